package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if os.Getenv("TRIAGE_AS_COMMAND") != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"triage": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "", Condition: condition})
}

// condition knows race: the command was built with the race detector, which takes minutes for what one goroutine computes.
func condition(name string) (bool, error) {
	if name != "race" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return raceDetector, nil
}

// The commands that the README shows must work as they stand, one after the other in one folder.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if os.IsNotExist(err) {
		t.Skip("there is no README.md")
	}
	if err != nil {
		t.Fatal(err)
	}
	commands := shown(text)
	if len(commands) == 0 {
		t.Fatal("README.md shows no triage commands in sh or console blocks")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "readme.txtar")
	if err := os.WriteFile(script, []byte(strings.Join(commands, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Files: []string{script}})
}

// The README says that stale signals hurt a router that does not count what it sent: its command must show it.
func TestReadmeShowsStaleSignals(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Skip(err)
	}
	var command string
	for _, line := range shown(text) {
		if strings.Contains(line, "scrape=30s") {
			command = line
		}
	}
	var stdout, stderr bytes.Buffer
	args := append(strings.Fields(command), "--format", "json")
	if len(args) < 4 || run(args[2:], &stdout, &stderr) != exitOK {
		t.Fatalf("%q: %s", command, &stderr)
	}
	var doc struct {
		Runs []struct {
			Policy string
			TTFT   struct{ Mean float64 } `json:"ttft_s"`
		}
	}
	if err := json.Unmarshal(stdout.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	mean := map[string]float64{}
	for _, r := range doc.Runs {
		mean[r.Policy] = r.TTFT.Mean
	}
	blind := mean["score:load=1,sent=off"]
	for _, better := range []string{"score", "score:load=1"} {
		if m, ok := mean[better]; !ok || blind < 2*m {
			t.Errorf("mean TTFT %v s without counting, %v s with %s, want at least twice that", blind, m, better)
		}
	}
}

// shown returns the triage commands in fenced sh and console blocks, as script lines.
func shown(readme []byte) []string {
	var out []string
	inside := false
	for s := bufio.NewScanner(bytes.NewReader(readme)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```sh" || line == "```console"
		case inside:
			line = strings.TrimPrefix(line, "$ ")
			line, _, _ = strings.Cut(line, "   #")
			line, file, redirected := strings.Cut(line, " >")
			if strings.HasPrefix(line, "triage ") {
				out = append(out, "exec "+line)
			}
			if redirected {
				out = append(out, "cp stdout "+file)
			}
		}
	}
	return out
}
