package policytest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/policies"
)

// hot tells whether the replica has the request's adapter or will, as far as anybody knows. No case is stale for a
// configuration of DrawConfig.
func (c Case) hot(i int) bool {
	for _, ids := range [][]policies.ID{c.View.Replicas[i].Adapters, c.View.InUse[i]} {
		for _, a := range ids {
			if a == c.Request.Adapter {
				return true
			}
		}
	}
	return c.leftBehind(i)
}

// drawIdle draws adapters that own requests left behind: each once, and none that is in use.
func drawIdle(t *rapid.T, inUse []policies.ID) (idle []policies.ID) {
	for _, a := range drawAdapters(t, "idle") {
		if a != 0 && !slices.Contains(inUse, a) && !slices.Contains(idle, a) {
			idle = append(idle, a)
		}
	}
	return idle
}

// leftBehind fills a replica's slots, first with the adapters in use, then with those left idle, the last used first.
func (c Case) leftBehind(i int) bool {
	rep := &c.View.Replicas[i]
	if rep.Signals.Resident {
		return false
	}
	in := map[policies.ID]bool{}
	for _, ids := range [][]policies.ID{rep.Adapters, c.View.InUse[i]} {
		for _, a := range ids {
			if a != 0 {
				in[a] = true
			}
		}
	}
	idle := c.View.Idle[i]
	for n := int32(len(in)); len(idle) > 0 && n < rep.Signals.MaxAdapters; n++ {
		last := idle[len(idle)-1]
		if last == c.Request.Adapter {
			return true
		}
		idle = idle[:len(idle)-1]
	}
	return false
}

// taken tells whether all slots of the replica are known to be taken by adapters in use that are not the request's.
func (c Case) taken(i int) bool {
	rep := &c.View.Replicas[i]
	if c.Request.Adapter == 0 || c.hot(i) || rep.Signals.Have&policies.HasAdapters == 0 || rep.Signals.MaxAdapters == 0 {
		return false
	}
	others := map[policies.ID]bool{}
	for _, a := range c.View.InUse[i] {
		others[a] = true
	}
	for _, a := range rep.Adapters {
		others[a] = others[a] || !rep.Signals.Resident
	}
	used := int32(0)
	for _, in := range others {
		if in {
			used++
		}
	}
	return used >= rep.Signals.MaxAdapters
}

// slotless: a replica whose slots others take is filtered out for that before its KV room matters, or never with
// slots=off.
func slotless(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	d := pick(fresh(cfg), c)
	want := int32(0)
	for i := range c.View.Replicas {
		if cfg.Slots == policies.SlotsSpill && obstacle(&c.Request, &c.View.Replicas[i]) == policies.NumReasons && c.taken(i) {
			want++
			if i == d.Replica || i == d.RunnerUp {
				t.Fatalf("%s is offered without a slot", c.View.Replicas[i].Name)
			}
		}
	}
	same(t, "replicas without a slot", d.Rejected[policies.NoAdapterSlot], want)
	if d.Replica >= 0 {
		miss := c.Request.Adapter != 0 && !c.hot(d.Replica)
		same(t, "the winner's miss", d.Terms[policies.AdapterMiss] != 0, miss && cfg.Weights.AdapterMiss != 0)
	}
}

// sentIsHot: once a request with an adapter is booked on a replica, another one misses nothing there, although no sample
// has shown it.
func sentIsHot(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	cfg.Weights.AdapterMiss = drawWeight(t, policies.AdapterMiss)
	d := pick(fresh(cfg), c)
	if d.Action != policies.Dispatch || c.Request.Adapter == 0 {
		return
	}
	book := policies.NewBook(len(c.View.Replicas))
	book.Dispatched(c.View.Now, &c.Request, &d)
	for i, ids := range book.InUse {
		c.View.InUse[i] = append(c.View.InUse[i], ids...)
	}
	again := pick(fresh(cfg), c.reorder([]int{d.Replica}))
	same(t, "the term where the adapter was sent", again.Terms[policies.AdapterMiss], 0.0)
	same(t, "the action where it was sent", again.Action, policies.Dispatch)
	same(t, "the filters where it was sent", again.Rejected, [policies.NumReasons]int32{})
}
