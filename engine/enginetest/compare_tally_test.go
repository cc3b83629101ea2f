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

// refRow is one of the counts, and whether a run adds to it.
type refRow struct {
	count *int
	seen  bool
}

func (c *refTally) rows(r *Reference) []refRow {
	return []refRow{
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
	}
}

// add counts a run, and says whether it was the first in which something happened.
func (c *refTally) add(r *Reference) (news bool) {
	c.cases++
	for _, row := range c.rows(r) {
		if row.seen {
			news = news || *row.count == 0
			*row.count++
		}
	}
	return news
}

func (c refTally) String() string {
	type plain refTally // without this method
	return fmt.Sprintf("cases with: %+v", plain(c))
}

// wantAll wants everything to have happened.
func (c *refTally) wantAll(t *testing.T) {
	for _, row := range c.rows(&Reference{}) {
		if *row.count == 0 {
			t.Errorf("the cases are not interesting: %v", c)
			return
		}
	}
}
