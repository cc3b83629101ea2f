package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFolderIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	d, err := newFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.write(manifestName, says("a")); err != nil {
		t.Fatal(err)
	}
	if err := d.write("result.json", breaks); !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), filepath.Join(path, "result.json")) {
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
	for _, name := range []string{"weights.json", "result.json"} {
		d, err := newFolder(path)
		if err != nil {
			t.Fatal(err)
		}
		d.replace = true
		if err := d.write(manifestName, says(manifestText)); err != nil {
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
	if got := names(t, path); len(got) != 2 || got[1] != "result.json" {
		t.Errorf("the folder has %v, want only the manifest and the second file", got)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left %v beside the folder", got)
	}
}

const manifestText = `{"schema":"triage/manifest/v1","tool":{"name":"triage"}}`

// tree makes a folder of files; a name that ends with a slash is a folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestForceReplacesOnlyResults(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string // in the error; "" is none
	}{
		{"empty", nil, ""},
		{"results", map[string]string{"manifest.json": manifestText, "result.json": "{}", "outcomes.parquet": ""}, ""},
		{"a search", map[string]string{"manifest.json": manifestText, "sweep.parquet": "", "weights.json": ""}, ""},
		{"with plots", map[string]string{"manifest.json": manifestText, "plots/ttft.svg": ""}, ""},
		{"no manifest", map[string]string{"result.json": "{}"}, "holds no manifest.json of triage"},
		{"an empty manifest", map[string]string{"manifest.json": ""}, "holds no manifest.json of triage"},
		{"a browser extension", map[string]string{"manifest.json": `{"manifest_version":3,"name":"x"}`}, "holds no manifest.json of triage"},
		{"another tool's", map[string]string{"manifest.json": `{"schema":"triage/manifest/v1","tool":{"name":"x"}}`}, "holds no manifest.json of triage"},
		{"a stranger", map[string]string{"manifest.json": manifestText, "notes.txt": ""}, "holds notes.txt"},
		{"a hidden stranger", map[string]string{"manifest.json": manifestText, ".git/config": ""}, "holds .git"},
		{"a folder by the name of a part", map[string]string{"manifest.json": manifestText, "result.json/": ""}, "holds result.json"},
		{"a stranger among the plots", map[string]string{"manifest.json": manifestText, "plots/talk.odp": ""}, "holds plots/talk.odp"},
		{"a folder among the plots", map[string]string{"manifest.json": manifestText, "plots/old.svg/": ""}, "holds plots/old.svg"},
	} {
		dir := tree(t, test.files)
		err := checkFolder(dir, true)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
		if err := checkFolder(dir, false); err == nil {
			t.Errorf("%s: replaced without --force", test.name)
		}
	}
}

// What appears while the work goes on is not removed: nothing without --force, and with it nothing but results.
func TestFolderSparesLatecomers(t *testing.T) {
	for _, test := range []struct {
		name    string
		replace bool
		files   map[string]string
	}{
		{"results, without --force", false, map[string]string{"manifest.json": manifestText}},
		{"a stranger, with --force", true, map[string]string{"manifest.json": manifestText, "thesis.tex": "x"}},
	} {
		path := tree(t, test.files)
		d, err := newFolder(path)
		if err != nil {
			t.Fatal(err)
		}
		d.replace = test.replace
		if err := d.write("weights.json", says("new")); err != nil {
			t.Fatal(err)
		}
		if err := d.commit(); err == nil {
			t.Errorf("%s: replaced", test.name)
		}
		d.discard()
		if got := names(t, path); len(got) != len(test.files) {
			t.Errorf("%s: the folder has %v, want what it had", test.name, got)
		}
		if got := names(t, filepath.Dir(path)); len(got) != 1 {
			t.Errorf("%s: left %v", test.name, got)
		}
	}
}

// A link that appears meanwhile stays, even if it leads to results.
func TestFolderSparesLateLinks(t *testing.T) {
	results := tree(t, map[string]string{"manifest.json": manifestText})
	path := filepath.Join(t.TempDir(), "out")
	d, err := newFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.discard()
	d.replace = true
	if err := os.Symlink(results, path); err != nil {
		t.Skip(err)
	}
	if err := d.commit(); err == nil {
		t.Error("the link was replaced")
	}
	if target, err := os.Readlink(path); err != nil || target != results {
		t.Errorf("the link is %q, %v; want it as it was", target, err)
	}
}

// A file that is missing in the list would make --force spare what triage wrote.
func TestFolderHoldsOnlyParts(t *testing.T) {
	d, err := newFolder(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.discard()
	defer func() {
		if recover() == nil {
			t.Error("a file outside the list was written")
		}
	}()
	d.write("diary.txt", says("x"))
}

func TestWithin(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.MkdirAll("a/b", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", "link"); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("a/b/future", "dangling"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		folder, path string
		want         bool
	}{
		{"a", "a", true}, {"a", "a/b/x", true}, {"a/b", "a/x", false}, {"a", "ab", false}, {"a/", filepath.Join(dir, "a/x"), true},
		{"a", "link/x", true}, {"link/", "a/b", true}, {"a", "link/../x", false}, {"a/b", "dangling", true},
		{"new", "new", true}, {"new", "new/x/y", true}, {"new", "./new/../newer", false}, {"link/new", "a/new/x", true},
	} {
		if got := within(test.folder, test.path); got != test.want {
			t.Errorf("within(%q, %q) = %v, want %v", test.folder, test.path, got, test.want)
		}
	}
}
