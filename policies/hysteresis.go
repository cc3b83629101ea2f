package policies

// Hysteresis stays with the replica that served the session last, unless another one scores more than Delta higher. A
// policy without a score always stays. Where it stays, the score is that of the home alone, the runner-up is the replica
// that the policy would have picked, and the margin is below 0 by what was given up.
type Hysteresis struct {
	forward
	Delta float64

	homes homes
	two   Decision // scratch of one Pick
}

var _ wrapped = (*Hysteresis)(nil)

var hysteresisKnobs = []field[Hysteresis]{
	{name: "delta", doc: "gain in score for which a session moves; a policy without a score never moves one", at: func(c *Hysteresis) any { return &c.Delta }, max: maxWeight},
}

// Pick lets the wrapped policy pick, and stays where that gains too little.
func (h *Hysteresis) Pick(r *Request, v *View, d *Decision) {
	h.inner.Pick(r, v, d)
	home := h.home(r, v)
	if d.Action != Dispatch || home < 0 || home == d.Replica || d.RunnerUp < 0 { // the last: home was no candidate
		return
	}
	best := d.Replica
	h.narrow.begin(v)
	h.narrow.only(r, v, best)
	h.narrow.only(r, v, home)
	two := &h.two
	if !h.narrow.pick(h.inner, r, v, two) || two.RunnerUp < 0 || two.Replica == best && two.Margin > h.Delta {
		return
	}
	gain := two.Margin
	if two.Replica == home {
		gain = -gain // with norms and terms that are relative to the candidates
	}
	h.narrow.begin(v)
	h.narrow.only(r, v, home)
	if h.narrow.pick(h.inner, r, v, two) {
		two.Rejected, two.RunnerUp, two.Margin, two.BestHit = d.Rejected, best, -gain, max(d.BestHit, two.BestHit)
		*d = *two
	}
}

// home is the place of the session's replica, -1 if it has none or left.
func (h *Hysteresis) home(r *Request, v *View) int {
	if r.Session == 0 {
		return -1
	}
	salt, ok := h.homes.find(r.Session)
	for i := range v.Replicas {
		if ok && v.Replicas[i].Salt == salt {
			return i
		}
	}
	return -1
}

// Dispatched remembers where the session is, and tells the wrapped policy.
func (h *Hysteresis) Dispatched(r *Request, v *View, d *Decision) {
	if r.Session != 0 {
		h.homes.set(r.Session, v.Replicas[d.Replica].Salt)
	}
	h.forward.Dispatched(r, v, d)
}

// homes remembers the replicas of at least the last manySessions sessions by their salts, and of twice as many at most.
type homes struct {
	young, old map[uint64]uint64 // for lookup only
}

const manySessions = 1 << 16

func (h *homes) find(session uint64) (salt uint64, ok bool) {
	if salt, ok = h.young[session]; !ok {
		salt, ok = h.old[session]
	}
	return salt, ok
}

func (h *homes) set(session, salt uint64) {
	if h.young == nil || len(h.young) >= manySessions {
		h.young, h.old = map[uint64]uint64{}, h.young
	}
	h.young[session] = salt
}
