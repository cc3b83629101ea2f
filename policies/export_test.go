package policies

import "slices"

// PoolOn returns a pool in the state of a view: its replicas, with the book and the hits as they are there.
func PoolOn(p Policy, v *View) *Pool {
	pool, err := NewPoolOf(seeing{p, v}, PoolConfig{})
	if err != nil {
		panic(err)
	}
	for _, r := range v.Replicas {
		if err := pool.Join(r); err != nil {
			panic(err)
		}
	}
	pool.advance(v.Now)
	copy(pool.book.Local, v.Local)
	for i, ids := range v.InUse {
		pool.book.InUse[i], pool.book.users[i] = slices.Clone(ids), slices.Repeat([]int32{1}, len(ids))
	}
	for i, ids := range v.Idle {
		pool.book.Idle[i] = slices.Clone(ids)
	}
	return pool
}

// seeing is a policy with given hits in place of its belief.
type seeing struct {
	Policy
	v *View
}

func (s seeing) Pick(r *Request, v *View, d *Decision) {
	w := *v
	w.Hits = s.v.Hits
	s.Policy.Pick(r, &w, d)
}

// RaceDetector tells whether the tests run under it.
const RaceDetector = raceDetector
