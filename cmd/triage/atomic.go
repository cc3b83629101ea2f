package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// draft is the new content of a file, written beside its place until commit. Devices and pipes have no such place: they
// are written at commit.
type draft struct {
	name       string       // as the user named it
	path, temp string       // of a regular file
	stream     func() error // writes a device or a pipe; nil for a regular file
}

// newDraft writes the content, or nothing if that fails.
func newDraft(ctx context.Context, name string, write func(io.Writer) error) (*draft, error) {
	path, err := landing(name)
	if err != nil {
		return nil, named(name, err)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return &draft{name: name, stream: func() error { return stream(ctx, path, write) }}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".triage-*")
	if err != nil {
		return nil, named(name, err)
	}
	if err := fill(f, write); err != nil {
		os.Remove(f.Name())
		return nil, named(name, err)
	}
	return &draft{name: name, path: path, temp: f.Name()}, nil
}

// commit puts the content in place.
func (d *draft) commit() error {
	if d.stream != nil {
		return named(d.name, d.stream())
	}
	return named(d.name, os.Rename(d.temp, d.path))
}

// discard removes what was written; after commit it does nothing.
func (d *draft) discard() {
	if d.temp != "" {
		os.Remove(d.temp)
	}
}

// writeFile writes a file whole or not at all.
func writeFile(ctx context.Context, name string, write func(io.Writer) error) error {
	d, err := newDraft(ctx, name, write)
	if err != nil {
		return err
	}
	defer d.discard()
	return d.commit()
}

// stream writes to a device or a pipe, and gives up when ctx ends: a pipe that nobody reads blocks.
func stream(ctx context.Context, path string, write func(io.Writer) error) error {
	_, err := interruptible(ctx, func() (struct{}, error) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return struct{}{}, err
		}
		b := bufio.NewWriter(f)
		return struct{}{}, errors.Join(write(b), b.Flush(), f.Close())
	})
	return err
}

// maxLinks is how many links Linux follows in a row.
const maxLinks = 40

// landing follows the links of a name to the file that it stands for, which need not exist.
func landing(name string) (string, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.Mode().IsRegular():
		return filepath.EvalSymlinks(name)
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return name, err
	}
	for range maxLinks {
		target, err := os.Readlink(name)
		if err != nil {
			return name, nil // no link: a file to be
		}
		if !filepath.IsAbs(target) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(name))
			if err != nil {
				return name, err
			}
			target = filepath.Join(dir, target)
		}
		name = target
	}
	return name, syscall.ELOOP
}

// checkFile says whether a file may be written, as far as that shows before it is.
func checkFile(name string) error {
	path, err := landing(name)
	if err != nil {
		return named(name, err)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory, want a file", name)
	}
	return checkParent(path)
}

func checkParent(path string) error {
	parent := filepath.Dir(filepath.Clean(path))
	info, err := os.Stat(parent)
	switch {
	case err != nil:
		return named(parent, err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", parent)
	}
	return nil
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
