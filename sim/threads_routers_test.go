package sim

import (
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/policies"
)

// GIE #189, #667, #336, #99: one replica whose metrics stop misleads the router. Blamed: its last numbers, taken while it
// was nearly idle, stand for ever. Read as unknown, the router's own book counts; read as full, it gets nothing.
func TestThread11SilentReplica(t *testing.T) {
	tr := made(t, steady(11, 1500, 30, 2000, 100))
	cfg := with(signalled("scrape=200ms"), func(c *Config) { c.Faults = []Fault{{At: 500 * time.Millisecond, Replica: "r3", Do: Mute}} })
	share := func(as string) (float64, Summary) {
		r, s := played(t, "stale_as="+as, cfg, "score:norm=absolute,sent=off,load=1,aff=0,stale=5s,stale_as="+as, tr)
		return float64(r.Replicas[3].Requests) / float64(len(r.Outcomes)), s
	}
	last, l := share("last")
	unknown, u := share("unknown")
	full, _ := share("full")
	if last < 0.25 || unknown > 0.15 || full > 0.06 { // 0.289, 0.134 and 0.043, of which most within the 5 s
		t.Errorf("the silent replica serves %.3f; read as unknown %.3f, as full %.3f", last, unknown, full)
	}
	if l.TTFT.P99 < 1.4*u.TTFT.P99 { // 4.75 s and 2.71 s
		t.Errorf("p99 TTFT %.2f s, read as unknown %.2f s", l.TTFT.P99, u.TTFT.P99)
	}
}

// dynamo #589, #3581, #6253, #12300: sixteen routers pick the same best replica, since most of their books are equal and
// the first of equals wins. Blamed: the deterministic tie. Broken by a hash of request and replica, routers differ.
func TestThread19SameBest(t *testing.T) {
	tr := made(t, steady(13, 1600, 40, 2000, 100))
	index0 := naive(func(_ *policies.Request, v *policies.View) int {
		return lowest(v, func(i int) float64 { return float64(v.Local[i].InFlight) })
	})
	ratio := func(routers string) float64 {
		_, low := playedBy(t, "lowest index, "+routers, with(routed(routers)), index0, tr)
		_, hashed := played(t, "hash, "+routers, with(routed(routers)), "least-request", tr)
		return low.TTFT.Mean / hashed.TTFT.Mean
	}
	if one, many := ratio("1"), ratio("16,by=turn"); one > 1.1 || many < 2 { // 0.94 and 3.1
		t.Errorf("ties to the lowest index have %.2f times the mean TTFT of a hash with 1 router, %.2f times with 16", one, many)
	}
}

// The other side of it: equal costs send the turns of a session here and there. Blamed: nothing but the tie decides.
// Affinity keeps them where their prefix is.
func TestThread19FlippingTurns(t *testing.T) {
	tr := made(t, chats(100, 8, 1, 8))
	flips, f := played(t, "aff=0", with(), "score:aff=0", tr)
	stays, s := played(t, "aff=10", with(), "score", tr)
	if a, b := moved(flips), moved(stays); a < 0.7 || b > 0.15 {
		t.Errorf("%.2f of the turns change their replica, with affinity %.2f", a, b)
	}
	if f.HitRatio > s.HitRatio/2 { // 0.27 and 0.81
		t.Errorf("hit ratio %.3f, with affinity %.3f", f.HitRatio, s.HitRatio)
	}
}

// moved is the share of later turns that went to another replica than the turn before.
func moved(r *Result) float64 {
	last := map[int32]int32{}
	turns, moves := 0, 0
	for i, o := range r.Outcomes {
		if was, ok := last[r.Trace.Session[i]]; ok {
			turns++
			if was != o.Replica {
				moves++
			}
		}
		last[r.Trace.Session[i]] = o.Replica
	}
	return float64(moves) / float64(turns)
}
