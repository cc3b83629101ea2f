package enginetest

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/engine"
)

// refSubject is what the engine and the reference have in common.
type refSubject interface {
	Submit(now engine.Time, s engine.Sequence) engine.Reason
	Advance(to engine.Time, out *[]engine.Event)
	Next() engine.Time
	Load(now engine.Time) engine.Load
	Cached(leaf int32) int32
	Stats() engine.Stats
	Adapters(resident, active *[]int32)
	SetCost(engine.Time, engine.CostModel)
	Reset()
	Check() error
}

var (
	_ refSubject = (*Reference)(nil)
	_ refSubject = (*engine.Engine)(nil)
)

// How many random cases a plain go test compares; -rapid.checks=N, or
// RAPID_CHECKS=N in the environment, asks for other numbers.
const (
	refChecks     = 10000
	refLongChecks = 20
)

// TestEngineMatchesReference drives the engine, with jumps and without, and the reference with the same random calls,
// and wants the same answers to the last picosecond.
func TestEngineMatchesReference(t *testing.T) {
	checks := refSetChecks(t, refChecks)
	var tally refTally
	rapid.Check(t, func(t *rapid.T) {
		run := newRefRun(t, refRapid{t}, refRapid{t}, refSmall)
		run.play()
		run.finish()
		tally.add(run.reference())
	})
	t.Log(tally)
	if checks >= refChecks {
		tally.wantAll(t)
	}
}

// TestEngineMatchesReferenceAtLength is the same with fewer cases of some hundred requests each.
func TestEngineMatchesReferenceAtLength(t *testing.T) {
	refSetChecks(t, refLongChecks)
	var tally refTally
	rapid.Check(t, func(t *rapid.T) {
		run := newRefRun(t, refRapid{t}, refRapid{t}, refLarge)
		run.play()
		run.finish()
		tally.add(run.reference())
	})
	t.Log(tally)
}

// refSetChecks sets rapid's number of cases for this test, unless the command line did.
func refSetChecks(t *testing.T, n int) int {
	f := flag.Lookup("rapid.checks")
	given := f.Value.String() != f.DefValue || os.Getenv("RAPID_CHECKS") != ""
	if given {
		fmt.Sscan(f.Value.String(), &n)
		return n
	}
	before := f.Value.String()
	t.Cleanup(func() { flag.Set(f.Name, before) })
	flag.Set(f.Name, fmt.Sprint(n))
	return n
}
