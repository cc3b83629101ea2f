package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func printed(t *testing.T, args ...string) []string {
	t.Helper()
	t.Chdir(t.TempDir()) // demo leaves a folder
	var stdout, stderr bytes.Buffer
	if code := run(args, &stdout, &stderr); code != exitOK {
		t.Fatalf("triage %s: exit code %d: %s", strings.Join(args, " "), code, &stderr)
	}
	return strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
}

// Everything printed by default fits 80 columns where nobody knows how wide the terminal is.
func TestOutputFitsASmallTerminal(t *testing.T) {
	for _, command := range []string{
		"--help", "demo", "demo --help", "replay --help", "replay demo", "replay demo --signals scrape=30s -p score:load=1,sent=off -p round-robin",
		"trace --help", "trace info demo", "trace info --help", "trace convert --help", "trace generate --help",
		"policies", "policies --help", "models", "models --help", "fidelity", "fidelity --help", "calibrate --help", "tune --help", "report --help", "gate --help", "compare --help",
		"config --help", "version", "version --help",
	} {
		for _, line := range printed(t, strings.Fields(command)...) {
			if n := len([]rune(line)); n > 80 {
				t.Errorf("triage %s prints %d columns: %s", command, n, line)
			}
		}
	}
}

// A terminal of 24 lines still shows the table and the first finding after the demo; its last line is the prompt.
func TestDemoEndsOnOneScreen(t *testing.T) {
	lines := printed(t, "demo")
	screen := strings.Join(lines[max(0, len(lines)-23):], "\n")
	for _, want := range []string{`(?m)^ +TTFT +TPOT`, `(?m)^round-robin .* base$`, `\* score has the lowest mean TTFT`, `(?m)^ +\$ triage replay FILE`} {
		if !regexp.MustCompile(want).MatchString(screen) {
			t.Errorf("the last screen has no %s:\n%s", want, screen)
		}
	}
}

// Whoever tries the examples of all help texts in one folder meets no folder that another example made.
func TestExamplesDoNotClash(t *testing.T) {
	var folders []string
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, found := range regexp.MustCompile(`(?m)(?:demo|replay) .*-o (\S+)`).FindAllStringSubmatch(c.Example, -1) {
			if slices.Contains(folders, found[1]) {
				t.Errorf("%s: the example writes %s, as another does", c.CommandPath(), found[1])
			}
			folders = append(folders, found[1])
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(rootCmd(80))
	if len(folders) < 2 {
		t.Errorf("examples write %v, want at least two folders to compare", folders)
	}
}
