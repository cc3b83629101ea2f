package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile writes a file whole or not at all: into a temporary sibling, then renamed. Devices and pipes
// are written in place.
func writeFile(name string, write func(io.Writer) error) error {
	path := name
	if target, err := filepath.EvalSymlinks(name); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return named(name, writeInPlace(path, write))
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".triage-*")
	if err != nil {
		return named(name, err)
	}
	err = fill(f, write)
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return named(name, err)
}

func writeInPlace(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	return errors.Join(write(b), b.Flush(), f.Close())
}

// fill writes and closes f, with the mode that a new file gets.
func fill(f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(f, 1<<16)
	err := write(b)
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// named puts the file that the user named before an I/O error, instead of the temporary one.
func named(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, bare(err))
}

// folder is an output folder that appears whole or not at all.
type folder struct{ path, temp string }

// checkFolder says whether path may be written: it must not exist unless it may be replaced.
func checkFolder(path string, force bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkParent(path)
	case err != nil:
		return named(path, err)
	case !info.IsDir():
		return fmt.Errorf("%s exists and is not a folder", path)
	case !force:
		return fmt.Errorf("%s exists, want a new folder, or --force to replace it", path)
	case !ours(path):
		return fmt.Errorf("%s is not empty and holds no %s: --force replaces only folders written by triage", path, manifestName)
	}
	return nil
}

// ours tells a folder of results, or an empty one, from one that --force must not remove.
func ours(path string) bool {
	entries, err := os.ReadDir(path)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.Name() == manifestName {
			return true
		}
	}
	return len(entries) == 0
}

// newFolder makes a temporary sibling of path.
func newFolder(path string) (*folder, error) {
	path = filepath.Clean(path)
	temp, err := os.MkdirTemp(filepath.Dir(path), ".triage-*")
	if err != nil {
		return nil, named(path, err)
	}
	return &folder{path, temp}, nil
}

// write adds a file.
func (d *folder) write(name string, write func(io.Writer) error) error {
	f, err := os.Create(filepath.Join(d.temp, name))
	if err == nil {
		err = fill(f, write)
	}
	return named(filepath.Join(d.path, name), err)
}

// discard removes what was written; after commit it does nothing.
func (d *folder) discard() { os.RemoveAll(d.temp) }

// commit puts the folder in place of what is there.
func (d *folder) commit() error {
	if err := os.Chmod(d.temp, 0o755); err != nil {
		return named(d.path, err)
	}
	old := d.temp + ".old"
	err := os.Rename(d.path, old)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return named(d.path, err)
	}
	if err := os.Rename(d.temp, d.path); err != nil {
		os.Rename(old, d.path) // put back what was there; the first error is the one to tell
		return named(d.path, err)
	}
	return named(d.path, os.RemoveAll(old))
}
