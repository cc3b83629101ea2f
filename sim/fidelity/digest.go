package fidelity

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Digest names the measurements of a folder: a sha256 over the names and contents of the files that errors come from, and
// how many they are. What others predicted is not among them.
func Digest(dir string) (sum string, files int, err error) {
	experiments, err := readExperiments(filepath.Join(dir, "experiments.csv"))
	if err != nil {
		return "", 0, err
	}
	names := []string{"experiments.csv", "ground_truth.csv", "closed_loop.csv"}
	for _, e := range experiments {
		if e.Trace != "" {
			names = append(names, e.Trace)
		}
	}
	h := sha256.New()
	for _, name := range names {
		of, err := digestFile(filepath.Join(dir, filepath.FromSlash(name)))
		if name == "closed_loop.csv" && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", 0, err
		}
		fmt.Fprintf(h, "%s %s\n", of, name)
		files++
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), files, nil
}

func digestFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
