package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const manifestName = "manifest.json"

// parts are the files that triage writes into folders.
var parts = []string{manifestName, "result.json", "outcomes.parquet", "sweep.parquet", "weights.json", "README.md"}

// plots is the folder of pictures and their numbers in a folder of results, and plotEndings are what the names end with.
const plots = "plots"

var plotEndings = []string{".svg", ".png", ".csv"}

func isPart(name string) bool { return slices.Contains(parts, name) }

// checkOurs says why path, shown as name, may not be removed: a folder of results holds triage's manifest and nothing
// that triage does not write. An empty folder may go.
func checkOurs(path, name string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return named(name, err)
	}
	for _, e := range entries {
		stranger, err := strange(path, e)
		switch {
		case err != nil:
			return named(name, err)
		case stranger != "":
			return fmt.Errorf("%s holds %s, which triage did not write: --force replaces only folders of results", name, stranger)
		}
	}
	if len(entries) > 0 && !manifestOurs(filepath.Join(path, manifestName)) {
		return fmt.Errorf("%s holds no %s of triage: --force replaces only folders of results", name, manifestName)
	}
	return nil
}

// strange returns the name of the entry, or of what is in it, if triage does not write such a thing.
func strange(dir string, e fs.DirEntry) (string, error) {
	switch {
	case e.Type().IsRegular() && isPart(e.Name()):
		return "", nil
	case !e.IsDir() || e.Name() != plots:
		return e.Name(), nil
	}
	pictures, err := os.ReadDir(filepath.Join(dir, plots))
	for _, p := range pictures {
		if !p.Type().IsRegular() || !slices.Contains(plotEndings, filepath.Ext(p.Name())) {
			return filepath.Join(plots, p.Name()), nil
		}
	}
	return "", err
}

// manifestOurs reports whether a file is a manifest that triage wrote.
func manifestOurs(path string) bool {
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var m struct {
		Schema string
		Tool   struct{ Name string }
	}
	return json.Unmarshal(data, &m) == nil && strings.HasPrefix(m.Schema, "triage/") && m.Tool.Name == tool().Name
}
