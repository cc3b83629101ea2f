package traces

// Previous returns for each request the row of the turn before it, Unknown for a first turn: its parent if any request of
// the trace names one, else the request before it of the same session. It returns nil if the trace names neither.
func (t *Trace) Previous() []int32 {
	switch {
	case t.extra != nil && t.extra.parent.values != nil:
		return t.parents()
	case t.namesSessions():
		return t.sessionOrder()
	}
	return nil
}

func (t *Trace) namesSessions() bool {
	for _, s := range t.Session {
		if s != 0 {
			return true
		}
	}
	return false
}

func (t *Trace) parents() []int32 {
	before := make([]int32, t.Len())
	for row := range before {
		before[row] = int32(t.extra.parent.at(row))
	}
	return before
}

func (t *Trace) sessionOrder() []int32 {
	before, last := make([]int32, t.Len()), make([]int32, len(t.Strings)) // the session's last row + 1
	for row, s := range t.Session {
		before[row] = Unknown
		if s != 0 {
			before[row], last[s] = last[s]-1, int32(row)+1
		}
	}
	return before
}

// ThinkNs returns how long after the answer to the turn before it a request came, Unknown if the trace does not say.
func (t *Trace) ThinkNs(row int) int64 { return t.extra.think.at(row) }

// E2ENsObs returns the end-to-end time that the log measured, Unknown if it did not.
func (t *Trace) E2ENsObs(row int) int64 { return t.extra.e2e.at(row) }
