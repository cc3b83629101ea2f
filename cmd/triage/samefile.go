package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// checkApart refuses to write to the file that is being read, by whatever name.
func checkApart(in, out string) error {
	a, err := statInput(in)
	if err != nil {
		return nil // opening it will say more
	}
	b, err := os.Stat(out)
	if err == nil && a.Mode().IsRegular() && os.SameFile(a, b) {
		return fmt.Errorf("%s is the file to read, want another one to write", out)
	}
	return nil
}

// statInput describes a trace. "-" is standard input; the embedded one is no file.
func statInput(name string) (os.FileInfo, error) {
	switch name {
	case "-":
		return os.Stdin.Stat()
	case embedded:
		return nil, errors.ErrUnsupported
	}
	return os.Stat(name)
}

// checkTraceOutside refuses to replace the folder that holds the trace.
func checkTraceOutside(folder, trace string) error {
	if trace != "-" && trace != embedded {
		return checkOutside(folder, "the trace", trace)
	}
	for _, name := range parts { // standard input is no path, so it is looked for
		if checkApart(trace, filepath.Join(folder, name)) != nil {
			return fmt.Errorf("standard input is %s in %s, which would be replaced; want another folder", name, folder)
		}
	}
	return nil
}

// checkOutside refuses to replace the folder that holds a file still needed, which what names.
func checkOutside(folder, what, file string) error {
	if within(folder, filepath.Dir(real(file))) {
		return fmt.Errorf("%s %s is in %s, which would be replaced; want another folder", what, file, folder)
	}
	return nil
}

// within reports whether path is folder or lies below it, links resolved. Neither needs to exist.
func within(folder, path string) bool {
	folder, path = real(folder), real(path)
	want, wantErr := os.Stat(folder)
	for dir := path; ; dir = filepath.Dir(dir) {
		have, err := os.Stat(dir)
		if dir == folder || err == nil && wantErr == nil && os.SameFile(want, have) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// real returns the absolute path with links resolved, as far as it exists.
func real(path string) string {
	if target, err := landing(path); err == nil {
		path = target
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	rest := ""
	for dir := abs; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if target, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(target, rest)
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
	return abs
}
