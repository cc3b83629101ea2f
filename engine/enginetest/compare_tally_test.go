package enginetest

import (
	"fmt"
	"testing"
)

// refTally counts the cases in which something happened.
type refTally struct {
	cases                                                                        int
	evicted, preempted, hits, ownHits, duplicates, blocked, starved, watermarked int
	notYet, chunks, refused                                                      int
	skipped, overtaken, loads, unloads, mixed, repriced                          int
	generated, generatedHits                                                     int
}

func (c *refTally) add(r *Reference) {
	c.cases++
	for _, n := range []struct {
		count *int
		seen  bool
	}{
		{&c.evicted, r.stats.Evicted > 0},
		{&c.preempted, r.stats.Preemptions > 0},
		{&c.hits, r.seen.hits > 0},
		{&c.ownHits, r.seen.ownHits > 0},
		{&c.duplicates, r.seen.duplicates > 0},
		{&c.blocked, r.seen.blocked > 0},
		{&c.starved, r.seen.starved > 0},
		{&c.watermarked, r.seen.watermarked > 0},
		{&c.notYet, r.seen.notYet > 0},
		{&c.chunks, r.seen.chunks > 0},
		{&c.refused, r.seen.refused > 0},
		{&c.skipped, r.seen.skipped > 0},
		{&c.overtaken, r.seen.overtaken > 0},
		{&c.loads, r.seen.loads > 0},
		{&c.unloads, r.seen.unloads > 0},
		{&c.mixed, r.seen.mixed > 0},
		{&c.repriced, r.seen.repriced > 0},
		{&c.generated, r.seen.generated > 0},
		{&c.generatedHits, r.seen.generatedHits > 0},
	} {
		if n.seen {
			*n.count++
		}
	}
}

func (c refTally) String() string {
	type plain refTally // without this method
	return fmt.Sprintf("cases with: %+v", plain(c))
}

// wantAll wants everything to have happened.
func (c *refTally) wantAll(t *testing.T) {
	for _, n := range []int{c.evicted, c.preempted, c.hits, c.ownHits, c.duplicates, c.blocked, c.starved, c.watermarked,
		c.notYet, c.chunks, c.refused, c.skipped, c.overtaken, c.loads, c.unloads, c.mixed, c.repriced,
		c.generated, c.generatedHits} {
		if n == 0 {
			t.Errorf("the cases are not interesting: %v", c)
		}
	}
}
