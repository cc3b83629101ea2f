package enginetest

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

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
		tally.add(refPlay(t, refRapid{t}, refRapid{t}, refSmall))
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
		tally.add(refPlay(t, refRapid{t}, refRapid{t}, refLarge))
	})
	t.Log(tally)
}

// TestSoak compares as many cases as the environment asks for: SOAK=500000, or as many as fit a time: SOAK=30m.
func TestSoak(t *testing.T) {
	var tally refTally
	more := refSoak(t, os.Getenv("SOAK"), &tally)
	for more() {
		rapid.Check(t, func(t *rapid.T) { tally.add(refPlay(t, refRapid{t}, refRapid{t}, refSmall)) })
	}
	t.Log(tally)
	tally.wantAll(t)
}

// refSoak returns a function that says whether a soak goes on. It goes in rounds of some thousand cases.
func refSoak(t *testing.T, want string, tally *refTally) func() bool {
	round := refSetChecks(t, refChecks)
	if n, err := strconv.Atoi(want); err == nil && n > 0 {
		return func() bool { return !t.Failed() && tally.cases < max(n, round) }
	}
	d, err := time.ParseDuration(want)
	if want == "" {
		t.Skip("set SOAK to a number of cases or a time")
	} else if err != nil || d <= 0 {
		t.Fatalf("SOAK is %q, want a number of cases or a time like 30m", want)
	}
	end := time.Now().Add(d)
	return func() bool { return !t.Failed() && (tally.cases == 0 || time.Now().Before(end)) }
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
