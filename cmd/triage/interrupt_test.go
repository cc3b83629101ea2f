//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// An interrupt while the trace is being read ends with 130 and leaves nothing behind.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "replay", pipe, "-o", filepath.Join(dir, "out"), "--outcomes", filepath.Join(dir, "o.csv"))
	cmd.Env = append(os.Environ(), "TRIAGE_AS_COMMAND=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns once the command has opened the other end
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("got %v, want exit code %d", err, exitInterrupted)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("it left %v, want only the pipe", entries)
	}
}

// An interrupt while a pipe for outcomes waits for a reader ends with 130, and nothing else is kept.
func TestInterruptWhileWriting(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "o.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	d, err := newDraft(ctx, pipe, says("x"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- d.commit() }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it interrupted", err)
	}
	d.discard()
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("it left %v, want the pipe", got)
	}
}
