package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/traces"
)

// generated makes the first requests of a preset.
func generated(t *testing.T, preset string, requests int) *traces.Trace {
	t.Helper()
	p, err := traces.PresetByName(preset)
	if err != nil {
		t.Fatal(err)
	}
	p.Params.Requests = requests
	tr, err := traces.Generate(p.Params)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Long shared prompts that about fill the cluster: affinity is everything, and a spill evicts somebody else's prompt.
func TestNearCapacityNeedsAffinityAndRoomForSpills(t *testing.T) {
	tr := generated(t, "near-capacity", 5000)
	off := numbers(t, clusterC(), tr, "score:fit=off")
	cold := numbers(t, clusterC(), tr, "score:aff=0,fit=off")
	spill := numbers(t, clusterC(), tr, "score:fit=spill")
	if cold.TTFT.Mean < 2*off.TTFT.Mean || cold.HitRatio > off.HitRatio/2 {
		t.Errorf("without affinity %.2f s at hit ratio %.2f, with %.2f s at %.2f: want at least twice the time", cold.TTFT.Mean,
			cold.HitRatio, off.TTFT.Mean, off.HitRatio)
	}
	if spill.TTFT.Mean < 1.2*off.TTFT.Mean || spill.HitRatio > off.HitRatio {
		t.Errorf("spilling %.2f s at hit ratio %.2f, without %.2f s at %.2f: want a price", spill.TTFT.Mean, spill.HitRatio,
			off.TTFT.Mean, off.HitRatio)
	}
}

// What counts what it sent hardly minds old signals; what does not herds.
func TestOldSignalsOnAGeneratedTrace(t *testing.T) {
	tr := generated(t, "rag", 3000)
	stale := clusterC()
	stale.Signals.Scrape = 30 * time.Second
	work, blind := numbers(t, stale, tr, "score"), numbers(t, stale, tr, "score:norm=absolute,sent=off")
	if live := numbers(t, clusterC(), tr, "score"); work.TTFT.Mean > 1.2*live.TTFT.Mean || blind.TTFT.Mean < 1.5*work.TTFT.Mean {
		t.Errorf("mean TTFT %.2f s live, %.2f s with old signals, %.2f s for a router blind to what it sent", live.TTFT.Mean,
			work.TTFT.Mean, blind.TTFT.Mean)
	}
}

// Where nodes end depends on later requests too; no policy may notice. Cutting every node in two changes nothing. (A
// bucket's key names a place in a node, so other nodes mean another placement of the same buckets.)
func TestPoliciesDoNotSeeHowNodesAreCut(t *testing.T) {
	tr := generated(t, "chat", 1500)
	for _, p := range []string{"round-robin", "random", "least-request", "score", "score:n=1024", "score:prefix=oracle"} {
		cfg := clusterC()
		cfg.KVTokens = 60_000
		a, err := Run(cfg, spec(t, p), tr)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Run(cfg, spec(t, p), cutInTwo(tr, int32(cfg.Engine.BlockSize)))
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Outcomes {
			if a.Outcomes[i] != b.Outcomes[i] {
				t.Fatalf("%s, row %d: %+v, with other nodes %+v", p, i, a.Outcomes[i], b.Outcomes[i])
			}
		}
	}
}

// cutInTwo returns the trace with every node that has room for it cut after its first blocks.
func cutInTwo(tr *traces.Trace, block int32) *traces.Trace {
	c := *tr
	f := tr.Forest
	c.Forest, c.Leaf = traces.Forest{}, slices.Clone(tr.Leaf)
	end := make([]int32, len(f.End)) // where a node of old is now
	add := func(parent, to, walks int32, hash uint64) int32 {
		n := &c.Forest
		n.Parent, n.End, n.Walks, n.Hash = append(n.Parent, parent), append(n.End, to), append(n.Walks, walks), append(n.Hash, hash)
		return int32(len(n.End) - 1)
	}
	for i := range f.End {
		parent, start := int32(-1), int32(0)
		if p := f.Parent[i]; p >= 0 {
			parent, start = end[p], f.End[p]
		}
		if mid := start + (f.End[i]-start)/2/block*block; mid > start {
			parent = add(parent, mid, f.Walks[i], ^f.Hash[i])
		}
		end[i] = add(parent, f.End[i], f.Walks[i], f.Hash[i])
	}
	for row, leaf := range c.Leaf {
		if leaf >= 0 {
			c.Leaf[row] = end[leaf]
		}
	}
	return &c
}
