package policies

import (
	"slices"
	"time"
)

// Held is a request that waits at a gateway.
type Held struct {
	ID       int32 // the caller's name for it
	Lane     ID    // requests of different lanes, as of different models, do not wait for one another
	Tenant   ID
	Priority int16 // a higher band goes first
	Tokens   int64 // prompt + expected output tokens: what it counts for in turns and limits
	Arrived  time.Duration
	Deadline time.Duration // when it gives up
}

// HoldConfig says in which order a HoldQueue lets requests go, and how many it takes.
type HoldConfig struct {
	MaxRequests int   // most requests held; 0 is no limit
	MaxTokens   int64 // most tokens held, by Held.Tokens; 0 is no limit. An empty queue takes any request
	EDF         bool  // earliest deadline first; else first come, first served
	Quantum     int64 // tokens that a tenant may send in its turn; 0: tenants take no turns
}

// HoldQueue holds requests that no replica has room for. Priority bands are strict within a lane. Within a band tenants take
// turns by tokens (deficit round robin: Shreedhar and Varghese, SIGCOMM 1995), and a tenant's requests go in order. A
// request that cannot go stops its lane, lower bands included: what is smaller or less urgent does not eat the room that
// it waits for. It has no clock: the caller says what time it is, and calls Release when something changed.
type HoldQueue struct {
	config HoldConfig
	lanes  []lane // by first appearance
	n      int
	tokens int64
	pushed int64
	dues   heldHeap
}

// lane is the requests of one lane, highest band first.
type lane struct {
	id    ID
	bands []band
	n     int  // requests held
	stuck bool // its next request could not go at this instant
}

// band is the requests of one priority; the flow at turn is next.
type band struct {
	priority int16
	flows    []*flow // those that hold requests
	turn     int
}

// flow is the requests of one tenant, or of all if tenants take no turns.
type flow struct {
	tenant  ID
	queue   heldHeap
	deficit int64 // tokens it may still send in this turn
}

// NewHoldQueue returns an empty queue.
func NewHoldQueue(c HoldConfig) *HoldQueue { return &HoldQueue{config: c, dues: heldHeap{byDue: true}} }

// Len returns how many requests are held.
func (q *HoldQueue) Len() int { return q.n }

// Tokens returns how many tokens they count for.
func (q *HoldQueue) Tokens() int64 { return q.tokens }

// Push takes a request, or reports false if the limits leave no room for it.
func (q *HoldQueue) Push(h Held) bool {
	c := &q.config
	if c.MaxRequests > 0 && q.n >= c.MaxRequests || c.MaxTokens > 0 && q.n > 0 && q.tokens+h.Tokens > c.MaxTokens {
		return false
	}
	x := &held{Held: h, order: q.pushed}
	if c.EDF {
		x.key = h.Deadline
	}
	q.pushed++
	q.flow(&h).queue.push(x)
	q.dues.push(x)
	q.lane(h.Lane).n++
	q.n++
	q.tokens += h.Tokens
	return true
}

// NextDeadline returns when the next request gives up; false if none is held.
func (q *HoldQueue) NextDeadline() (time.Duration, bool) {
	x := q.dues.first()
	if x == nil {
		return 0, false
	}
	return x.Deadline, true
}

// Expire takes out a request whose deadline is at or before now, the earliest one, and returns its ID.
func (q *HoldQueue) Expire(now time.Duration) (int32, bool) {
	x := q.dues.first()
	if x == nil || x.Deadline > now {
		return 0, false
	}
	q.drop(x)
	return x.ID, true
}

// Waits says whether anybody waits in a lane.
func (q *HoldQueue) Waits(id ID) bool {
	for i := range q.lanes {
		if q.lanes[i].id == id {
			return q.lanes[i].n > 0
		}
	}
	return false
}

// Release offers the held requests in order, each lane up to the first that cannot go; of lanes whose next requests are of
// one band, the one whose has waited longest comes first. Those that try takes are gone. It reports whether it took any.
func (q *HoldQueue) Release(try func(id int32) bool) bool {
	before := q.n
	for i := range q.lanes {
		q.lanes[i].stuck = false
	}
	for l, f := q.next(); l != nil; l, f = q.next() {
		x := f.queue.first()
		if l.stuck = !try(x.ID); !l.stuck {
			f.deficit -= x.Tokens
			q.drop(x)
		}
	}
	return q.n < before
}

// next returns the lane and the flow whose first request is next, nil if no lane can move.
func (q *HoldQueue) next() (*lane, *flow) {
	var best *lane
	var first *held
	var flow *flow
	for i := range q.lanes {
		l := &q.lanes[i]
		if l.stuck || l.n == 0 {
			continue
		}
		f := l.whose(q.config.Quantum)
		if x := f.queue.first(); first == nil || x.Priority > first.Priority || x.Priority == first.Priority && x.order < first.order {
			best, flow, first = l, f, x
		}
	}
	return best, flow
}

// whose returns the flow whose turn it is in the highest band that holds anybody.
func (l *lane) whose(quantum int64) *flow {
	for i := range l.bands {
		if f := l.bands[i].whose(quantum); f != nil {
			return f
		}
	}
	return nil
}

// whose returns the flow whose turn it is: the first from turn on that may send its next request, each being given a
// quantum as its turn comes. It is nil if the band is empty.
func (b *band) whose(quantum int64) *flow {
	for len(b.flows) > 0 {
		f := b.flows[b.turn]
		x := f.queue.first()
		switch {
		case x != nil && (quantum == 0 || f.deficit >= x.Tokens):
			return f
		case x == nil: // who comes back begins anew
			b.flows = slices.Delete(b.flows, b.turn, b.turn+1)
		default:
			b.turn++
		}
		if b.turn >= len(b.flows) {
			b.turn = 0
		}
		if len(b.flows) > 0 {
			b.flows[b.turn].deficit += quantum
		}
	}
	return nil
}

// flow returns where a request belongs.
func (q *HoldQueue) flow(h *Held) *flow {
	b := q.lane(h.Lane).band(h.Priority)
	tenant := h.Tenant
	if q.config.Quantum == 0 {
		tenant = 0
	}
	for _, f := range b.flows {
		if f.tenant == tenant {
			return f
		}
	}
	f := &flow{tenant: tenant}
	if b.flows = append(b.flows, f); len(b.flows) == 1 { // its turn is now
		f.deficit = q.config.Quantum
	}
	return f
}

func (q *HoldQueue) lane(id ID) *lane {
	for i := range q.lanes {
		if q.lanes[i].id == id {
			return &q.lanes[i]
		}
	}
	q.lanes = append(q.lanes, lane{id: id})
	return &q.lanes[len(q.lanes)-1]
}

func (l *lane) band(priority int16) *band {
	i := 0
	for i < len(l.bands) && l.bands[i].priority > priority {
		i++
	}
	if i == len(l.bands) || l.bands[i].priority != priority {
		l.bands = slices.Insert(l.bands, i, band{priority: priority})
	}
	return &l.bands[i]
}

// drop books a request as gone.
func (q *HoldQueue) drop(x *held) {
	x.gone = true
	q.lane(x.Lane).n--
	q.n--
	q.tokens -= x.Tokens
}
