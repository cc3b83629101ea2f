package main

import (
	"bufio"
	"bytes"
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
	testscript.Run(t, testscript.Params{Dir: "testdata/script", UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != ""})
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
			if strings.HasPrefix(line, "triage ") {
				out = append(out, "exec "+line)
			}
		}
	}
	return out
}
