package tune

import (
	"math/bits"

	"github.com/seed-2cee110a/triage/sim"
)

// decisions hashes what was decided for every request: where it went and when, or why it was refused and when.
func decisions(r *sim.Result) uint64 {
	h := uint64(len(r.Outcomes))
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		h = mix(h, uint64(uint32(o.Replica))|uint64(o.Status)<<32|uint64(o.Reason)<<40)
		if o.Status == sim.Rejected {
			h = mix(h, uint64(o.Finished))
		} else {
			h = mix(h, uint64(o.Dispatched))
		}
	}
	return h
}

// mix folds x into h by a full multiplication, as wyhash does (https://github.com/wangyi-fudan/wyhash).
func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^0xa0761d6478bd642f, x^0xe7037ed1a0b428db)
	return hi ^ lo ^ bits.RotateLeft64(h, 23) ^ x
}

// classes numbers each point by the first point with the same decisions and metrics on every trace, -1 for a point that is
// not done, and counts the classes.
func classes(points [][]Cell) (class []int, n int) {
	class = make([]int, len(points))
	byHash := map[uint64][]int{} // the first points of the classes with that hash
	for p, cells := range points {
		class[p] = -1
		if !done(cells) {
			continue
		}
		h := uint64(0)
		for _, c := range cells {
			h = mix(h, c.Decisions)
		}
		for _, first := range byHash[h] {
			if equal(points[first], cells) {
				class[p] = first
			}
		}
		if class[p] < 0 {
			class[p] = p
			byHash[h] = append(byHash[h], p)
			n++
		}
	}
	return class, n
}

func equal(a, b []Cell) bool {
	for t := range a {
		if a[t].Decisions != b[t].Decisions || !a[t].Metrics.same(&b[t].Metrics) {
			return false
		}
	}
	return true
}
