package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// folder is an output folder that appears whole or not at all.
type folder struct {
	path, temp string
	replace    bool // take the place of an earlier folder of results
}

// checkFolder says whether path may be written: it must not exist unless it may be replaced.
func checkFolder(path string, force bool) error {
	path = filepath.Clean(path) // a slash at the end would look through a link
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkParent(path)
	case err != nil:
		return named(path, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link, want a folder", path)
	case !info.IsDir():
		return fmt.Errorf("%s exists and is not a folder", path)
	case !force:
		return fmt.Errorf("%s exists, want a new folder, or --force to replace it", path)
	case within(path, "."):
		return fmt.Errorf("%s holds the current folder, which would be replaced; want another folder", path)
	}
	return checkOurs(path, path)
}

// newFolder makes a temporary sibling of path.
func newFolder(path string) (*folder, error) {
	path = filepath.Clean(path)
	temp, err := os.MkdirTemp(filepath.Dir(path), ".triage-*")
	if err != nil {
		return nil, named(path, err)
	}
	return &folder{path: path, temp: temp}, nil
}

// write adds a file, one of the list of parts.
func (d *folder) write(name string, write func(io.Writer) error) error {
	if !isPart(name) {
		panic("triage: " + name + " is not in the list of parts, so --force would spare it")
	}
	f, err := os.Create(filepath.Join(d.temp, name))
	if err == nil {
		err = fill(f, write)
	}
	return named(filepath.Join(d.path, name), err)
}

// discard removes what was written; after commit it does nothing.
func (d *folder) discard() { os.RemoveAll(d.temp) }

// commit puts the folder in place. What is there by now goes only if it may.
func (d *folder) commit() error {
	if err := os.Chmod(d.temp, 0o755); err != nil {
		return named(d.path, err)
	}
	if _, err := os.Lstat(d.path); errors.Is(err, fs.ErrNotExist) {
		return named(d.path, os.Rename(d.temp, d.path))
	}
	if !d.replace {
		return fmt.Errorf("%s has appeared meanwhile, want a new folder, or --force to replace it", d.path)
	}
	return d.swap()
}

// swap takes the place of an earlier folder, which is put back if anything is wrong with it.
func (d *folder) swap() error {
	if err := checkFolder(d.path, true); err != nil {
		return err
	}
	old := d.temp + ".old"
	if err := os.Rename(d.path, old); err != nil {
		return named(d.path, err)
	}
	err := checkOurs(old, d.path) // nobody finds it by its name any more
	if err == nil {
		err = named(d.path, os.Rename(d.temp, d.path))
	}
	if err != nil {
		os.Rename(old, d.path) // the first error is the one to tell
		return err
	}
	return named(d.path, os.RemoveAll(old))
}
