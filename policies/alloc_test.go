package policies_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/policies"
)

// No policy allocates in Pick or Believe, whatever the number of replicas.
func TestNoAllocation(t *testing.T) {
	texts := append([]string{"score:norm=absolute,tokens=1,n=1000,stale=1s", "score:prefix=bucket,k=64", "score:norm=minmax,fit=hold",
		"score:norm=mean", "score:norm=time,others=on,ttft=1", "score:prefix=events,spec=1s,delay=1s", "score:order=root"}, specs...)
	texts = append(texts, wrapped...)
	for _, text := range texts {
		for _, n := range sizes {
			r, v := cluster(n)
			p := parse(t, text).New()
			warm(p, r, v)
			var d policies.Decision
			if got := testing.AllocsPerRun(20, func() { p.Pick(r, v, &d) }); got != 0 {
				t.Errorf("%s: %v allocations in Pick among %d, want 0", text, got, n)
			}
			b, ok := p.(policies.Believer)
			if !ok {
				continue
			}
			if got := testing.AllocsPerRun(20, func() { b.Believe(r, v) }); got != 0 {
				t.Errorf("%s: %v allocations in Believe among %d, want 0", text, got, n)
			}
		}
	}
}

// Neither does one that weighs a session's replica against another.
func TestNoAllocationToStay(t *testing.T) {
	for _, text := range []string{"hysteresis(1e9):score", "hysteresis(0):score", "hysteresis:least-request"} {
		r, v := cluster(8)
		r.Session = 7
		p := parse(t, text).New()
		warm(p, r, v)
		var d policies.Decision
		if p.Pick(r, v, &d); text != "hysteresis(0):score" && d.Replica != 7 {
			t.Fatalf("%s: replica %d, want 7, which served the session last", text, d.Replica)
		}
		if got := testing.AllocsPerRun(20, func() { p.Pick(r, v, &d) }); got != 0 {
			t.Errorf("%s: %v allocations in Pick, want 0", text, got)
		}
	}
}

// The package ships in live routers: it and all it needs is the standard library.
func TestOnlyStandardLibrary(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Skipf("no go command to list the imports with: %v", err)
	}
	const own = "github.com/seed-2cee110a/triage/policies"
	if got := strings.TrimSpace(string(out)); got != own {
		t.Errorf("depends on %s, want only itself and the standard library", got)
	}
}
