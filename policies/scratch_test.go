package policies_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// liveRouter is a program of another module.
const liveRouter = `package main

import (
	"fmt"
	"os"

	"github.com/seed-2cee110a/triage/policies"
)

func main() {
	data, err := os.ReadFile("weights.json")
	check(err)
	w, err := policies.DecodeWeights(data)
	check(err)
	pool, err := policies.NewPool(w, policies.PoolConfig{})
	check(err)
	check(pool.Join(policies.Replica{Name: "r0"}))
	chain, err := w.NewChain(policies.Scope{Model: "m"})
	check(err)
	request := policies.Request{PromptTokens: 100, Blocks: chain.Tokens(nil, make([]int32, 100))}
	for range 2 {
		lease, decision := pool.Route(&request, 0)
		fmt.Println(decision.Action, lease.Replica, decision.Hit)
		lease.Done(1)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
`

// A router in a module of its own needs this one and nothing from the net: it builds and routes offline.
func TestAnotherModule(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command(tool, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off", "GOTOOLCHAIN=local")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for name, text := range map[string]string{"main.go": liveRouter, "weights.json": encoded(t, tuned())} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const module = "github.com/seed-2cee110a/triage"
	run("mod", "init", "example.org/router")
	run("mod", "edit", "-require="+module+"@v0.0.0", "-replace="+module+"="+root)
	// One whole block of 64 tokens, that of the file, is in the cache the second time.
	if got, want := run("run", "."), "dispatch r0 0\ndispatch r0 64\n"; got != want {
		t.Errorf("the router printed %q, want %q", got, want)
	}
}
