package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var errBroken = errors.New("broken")

// breaks writes a little more than a buffer and fails.
func breaks(w io.Writer) error {
	w.Write(make([]byte, 1<<17)) // what is written must not stay
	return errBroken
}

func says(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteFileIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := writeFile(path, breaks); !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("got %v, want %v behind the file's name", err, errBroken)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("a failed write left %v", got)
	}
	if err := writeFile(path, says("old")); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(path, breaks); err == nil {
		t.Error("want an error")
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("after a failed write the file has %q, want what it had", got)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left %v, want only the file", got)
	}
}

func TestWriteFileFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "f"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if err := writeFile(link, says("new")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Errorf("the link's target has %q, want the new text", got)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
}

func TestFolderIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	d, err := newFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.write("a", says("a")); err != nil {
		t.Fatal(err)
	}
	if err := d.write("b", breaks); !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), filepath.Join(path, "b")) {
		t.Errorf("got %v, want %v behind the name that the user knows", err, errBroken)
	}
	d.discard()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("a failed folder left %v", got)
	}
}

func TestFolderReplacesWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	for _, name := range []string{"first", "second"} {
		d, err := newFolder(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.write(name, says(name)); err != nil {
			t.Fatal(err)
		}
		if err := d.commit(); err != nil {
			t.Fatal(err)
		}
		d.discard()
	}
	if got := names(t, path); len(got) != 1 || got[0] != "second" {
		t.Errorf("the folder has %v, want only the second file", got)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left %v beside the folder", got)
	}
}

func TestForceSparesForeignFolders(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := checkFolder(dir, true); err == nil {
		t.Error("--force may remove a folder that triage did not write")
	}
	if err := os.WriteFile(filepath.Join(dir, manifestName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := checkFolder(dir, true); err != nil {
		t.Errorf("--force may not replace results: %v", err)
	}
	if err := checkFolder(dir, false); err == nil {
		t.Error("results are replaced without --force")
	}
}
