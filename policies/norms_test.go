package policies_test

import (
	"math"
	"testing"

	"github.com/seed-2cee110a/triage/policies"
)

// seen is what the queue term looks at in one replica.
type seen struct {
	waiting, sent int32
	uncached      int64
	hit           int32
	rate          float32
	mine          int32 // of those waiting
	pending       int32
}

// queueTerms returns the queue term of each replica alone as the winner among all, with weight 1: the others are moved
// away by their adapters.
func queueTerms(t *testing.T, text string, routers int, all []seen) []float64 {
	t.Helper()
	terms := make([]float64, len(all))
	for winner := range all {
		v := &policies.View{Routers: routers}
		for i, s := range all {
			rep := policies.Replica{Name: string(rune('a' + i)), Signals: policies.Signals{Have: policies.HasWaiting, Waiting: s.waiting}}
			if i == winner {
				rep.Adapters = []policies.ID{1}
			}
			v.Replicas = append(v.Replicas, rep)
			v.Local = append(v.Local, policies.Local{SentSinceSample: s.sent, UncachedPrefill: s.uncached, PrefillRate: s.rate,
				WaitingInSample: s.mine, Pending: s.pending})
			v.Hits = append(v.Hits, policies.Hit{Tokens: s.hit})
		}
		var d policies.Decision
		p := parse(t, "score:aff=0,q=1,lora=1e6,load=0,"+text).New()
		p.Pick(&policies.Request{PromptTokens: 1000, Adapter: 1}, v, &d)
		if d.Replica != winner {
			t.Fatalf("%s: replica %d won, want %d", text, d.Replica, winner)
		}
		terms[winner] = -d.Terms[policies.Queue]
	}
	return terms
}

func TestNorms(t *testing.T) {
	// 1 + 1, 4 and 12 + 2 requests wait: 2, 4 and 14.
	three := []seen{{waiting: 1, sent: 1, uncached: 500}, {waiting: 4, uncached: 2000, hit: 400}, {waiting: 12, sent: 2}}
	same := []seen{{waiting: 3}, {waiting: 3}}
	for _, tc := range []struct {
		name, knobs string
		routers     int
		all         []seen
		want        []float64
	}{
		{"uncached tokens ahead / prompt", "norm=work", 1, three, []float64{0.5, 2, 0}},
		{"waiting / cap, at most 1", "norm=absolute,cap=10", 1, three, []float64{0.2, 0.4, 1}},
		{"without what was sent", "norm=absolute,cap=10,sent=off", 1, three, []float64{0.1, 0.4, 1}},
		{"from the fewest to the most", "norm=minmax", 1, three, []float64{0, 2. / 12, 1}},
		{"all the same are 0", "norm=minmax", 1, same, []float64{0, 0}},
		{"1 against 0 is all there is", "norm=minmax", 1, []seen{{waiting: 1}, {}}, []float64{1, 0}},
		{"above the mean 20/3", "norm=mean", 1, three, []float64{-0.7, -0.4, 1.1}},
		{"a mean below 1 is read as 1", "norm=mean", 1, []seen{{waiting: 1}, {}}, []float64{0.5, -0.5}},
		{"(500 + 1000) / 2000, (2000 + 600) / 2000, 1000 / 2000 s", "norm=time,rate=2000", 1, three, []float64{0.75, 1.3, 0.5}},
		{"each at its own rate, one at the mean of 2000 and 4000", "norm=time", 1,
			[]seen{{uncached: 1000, rate: 2000}, {uncached: 1000, rate: 4000}, {uncached: 2000}}, []float64{1, 0.5, 1}},
		{"no rate is known: nothing counts", "norm=time", 1, three, []float64{0, 0, 0}},
		// 3 own requests wait for 2500 tokens; of those waiting 4 - 1 and 12 are others', 2500/3 tokens each.
		{"others' requests at the mean of own ones", "norm=work", 2,
			[]seen{{waiting: 1, mine: 1, uncached: 500, pending: 1}, {waiting: 4, mine: 1, uncached: 2000, pending: 2}, {waiting: 12}},
			[]float64{0.5, 4.5, 10}},
		{"own requests that left the queue are nobody's", "norm=work", 2, []seen{{waiting: 1, mine: 3, uncached: 500, pending: 1}}, []float64{0.5}},
		{"no own request waits: others' are of this prompt's size", "norm=work", 2, []seen{{waiting: 2}, {waiting: 1, mine: 1}}, []float64{2, 0}},
		{"others in seconds", "norm=time,rate=1000", 2, []seen{{waiting: 2, uncached: 500, pending: 1}}, []float64{2.5}},
		{"with one router nobody else sends", "norm=work", 1, []seen{{waiting: 12, uncached: 500, pending: 1}}, []float64{0.5}},
		{"unless it is told otherwise", "norm=work,others=on", 1, []seen{{waiting: 1, uncached: 500, pending: 1}}, []float64{1}},
		{"or to look away", "norm=work,others=off", 4, []seen{{waiting: 1, uncached: 500, pending: 1}}, []float64{0.5}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for i, got := range queueTerms(t, tc.knobs, tc.routers, tc.all) {
				if math.Abs(got-tc.want[i]) > 1e-12 {
					t.Errorf("replica %d has queue %v, want %v", i, got, tc.want[i])
				}
			}
		})
	}
}
