package reports

import (
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// guarded wants a rule to speak of the last run, and no longer once a change has brought one of its figures to the harmless
// side of its bound.
func guarded(t *testing.T, c *Comparison, rule func(*Comparison, *Run) *Finding, change func(*Run)) {
	t.Helper()
	r := &c.Runs[len(c.Runs)-1]
	if rule(c, r) == nil {
		t.Fatal("silence before the change, want a finding")
	}
	change(r)
	if f := rule(c, r); f != nil {
		t.Errorf("got %q after the change, want silence", f.Text)
	}
}

// Refusals while a quarter of the engines look idle are no lack of capacity, however busy all are.
func TestIdleEnginesAreNoLackOfCapacity(t *testing.T) {
	cfg := sim.Default()
	cfg.Speed = 2
	c := diagnose(t, cfg, madeUp(t, "near-capacity", 2000, nil), false, "score")
	guarded(t, c, capacity, func(r *Run) {
		s := &r.course.all[r.course.worst()]
		for i := range s.spare {
			s.spare[i] = spareLeast * s.queueing
		}
	})
}

// Four times an unloaded p90 of 0.1 s is nothing that a tenant notices.
func TestShortWaitsStarveNobody(t *testing.T) {
	cfg := sim.Default()
	cfg.Replicas = 4
	c := diagnose(t, cfg, bigAndSmall(t, 400), false, "least-request")
	guarded(t, c, tenantStarved, func(r *Run) {
		tenant(r.Tenants, "small").TTFT.P90 = 0.4
		tenant(r.beside(Unloaded).Tenants, "small").TTFT.P90 = 0.1
	})
}

// A replica whose requests have long answers has more in flight, but nobody waits for it longer.
func TestLongAnswersAreNotHot(t *testing.T) {
	m := newMaker(t)
	for i := range 100 {
		m.add(400*i, "t", 0, 4000, choose(i%2 == 0, 1000, 5))
	}
	tr := m.trace()
	cfg := sim.Default()
	cfg.Replicas, cfg.Engine.MaxNumSeqs = 2, 10
	c := diagnose(t, cfg, tr, false, "round-robin")
	if hotReplica(c, &c.Runs[0]) == nil {
		t.Fatal("silence where requests queue for one of the replicas, want a finding")
	}
	cfg.Engine.MaxNumSeqs = 1024
	c = diagnose(t, cfg, tr, false, "round-robin")
	r := &c.Runs[0]
	if loads := loadsOf(r.result); loads[0].flight < hotLoad*loads[1].flight {
		t.Fatalf("in flight %v s and %v s, want one far above the other", loads[0].flight, loads[1].flight)
	}
	if f := hotReplica(c, r); f != nil {
		t.Errorf("got %q, want silence", f.Text)
	}
}

// Cold routes that take less than twice as long as others are not expensive, even if together they cost enough to matter.
func TestCheapColdRoutesNeedNoWarmReplica(t *testing.T) {
	cfg := sim.Default()
	cfg.Replicas, cfg.KVTokens = 4, 50_000
	c := diagnose(t, cfg, hotPrefix(t), false, "score:prefix=bucket,k=1,bound=1.25")
	guarded(t, c, warmAnother, func(r *Run) {
		is := coldRows(r.result)
		x := routesOf(r)
		for i := range r.result.Outcomes {
			if o := &r.result.Outcomes[i]; is[o.Row] {
				o.First = o.Arrived + engine.FromDuration(time.Duration(1.9*x.rest*float64(time.Second)))
			}
		}
		x = routesOf(r)
		if cost := float64(x.n) * (x.ttft - x.rest); x.n < coldLeast || cost < coldWeight*float64(r.Completed)*x.rest {
			t.Fatalf("%d cold routes cost %v s beyond the others' mean, want more", x.n, cost)
		}
		r.TTFT.Mean = x.rest
	})
}
