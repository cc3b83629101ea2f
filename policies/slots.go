package policies

import "slices"

// place says whether the replica has the request's adapter, and is false if it has no slot for it. A replica that does
// not tell its adapters, or told them too long ago, is stopped by none: its slots are unknown.
func (s *Score) place(v *View, i int, c *candidate) bool {
	adapter, own, sig := s.pick.request.Adapter, v.inUse(i), &c.replica.Signals
	stale := sig.Have&^c.have&HasAdapters != 0
	c.hot = slices.Contains(own, adapter) || !stale && v.loaded(i, adapter)
	if c.hot || s.config.Slots == SlotsOff || c.have&HasAdapters == 0 || sig.MaxAdapters <= 0 {
		return true
	}
	return othersInUse(c.replica, own, adapter) < sig.MaxAdapters
}

// inUse returns the adapters of the own requests in flight on a replica.
func (v *View) inUse(i int) []ID {
	if i < len(v.InUse) {
		return v.InUse[i]
	}
	return nil
}

// loaded says whether a replica is believed to have an adapter in a slot: it told so, or one of the own requests left it
// there. Of adapters in no use a replica keeps those used last, as many as it has slots for beside those in use.
func (v *View) loaded(i int, adapter ID) bool {
	rep := &v.Replicas[i]
	if slices.Contains(rep.Adapters, adapter) {
		return true
	}
	if rep.Signals.Resident || rep.Signals.MaxAdapters <= 0 || i >= len(v.Idle) {
		return false
	}
	idle := v.Idle[i]
	at := slices.Index(idle, adapter)
	return at >= 0 && int32(len(idle)-at)+othersInUse(rep, v.inUse(i), adapter) <= rep.Signals.MaxAdapters
}

// othersInUse counts the adapters but one that the replica needs: those that it told to be in use, and those of the own
// requests in flight. Of adapters that are only told to be resident an idle one gives up its slot.
func othersInUse(rep *Replica, own []ID, but ID) (n int32) {
	told := rep.Adapters
	if rep.Signals.Resident {
		told = nil
	}
	for at, a := range told {
		if a != 0 && a != but && !slices.Contains(told[:at], a) {
			n++
		}
	}
	for at, a := range own {
		if a != 0 && a != but && !slices.Contains(own[:at], a) && !slices.Contains(told, a) {
			n++
		}
	}
	return n
}
