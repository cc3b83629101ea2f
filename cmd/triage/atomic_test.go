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
	if err := writeFile(t.Context(), path, breaks); !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("got %v, want %v behind the file's name", err, errBroken)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("a failed write left %v", got)
	}
	if err := writeFile(t.Context(), path, says("old")); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(t.Context(), path, breaks); err == nil {
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
	if err := writeFile(t.Context(), link, says("new")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Errorf("the link's target has %q, want the new text", got)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
}

// A link to a file that does not exist yet is written through, wherever it is.
func TestWriteFileFollowsDanglingLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	link, second := filepath.Join(dir, "link"), filepath.Join(dir, "deep", "second")
	for name, target := range map[string]string{link: filepath.Join("deep", "second"), second: "f"} {
		if err := os.Symlink(target, name); err != nil {
			t.Skip(err)
		}
	}
	if err := writeFile(t.Context(), link, says("new")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "deep", "f")); string(got) != "new" {
		t.Errorf("the target has %q, want the new text", got)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if err := checkFile(loop); err == nil {
		t.Error("a link to itself may be written")
	}
	if err := checkFile(filepath.Join(dir, "deep")); err == nil {
		t.Error("a directory may be written as a file")
	}
}
