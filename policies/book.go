package policies

import "time"

// Ticket is what a dispatch put in the book. The caller keeps it and hands it back.
type Ticket struct {
	Replica int
	Charge  int64 // uncached prompt tokens, released at the first token or at the end
	Held    int64 // prompt + expected output tokens, released at the end
	need    int64 // KV tokens, until it is known that the replica's signals count them
	sent    int64 // serial number in recent.sent
	begun   int64 // serial number in recent.begun, -1 before its first token
	adapter ID    // in use until the end
	Output  int32 // output tokens, for the feedback on TPOT; to be set before Done by who knows them

	timing
}

// Book is the router's own account of what it sent where. The instants that it is told never go back, but a sample may
// be told of long after it was taken.
type Book struct {
	Local  []Local
	InUse  [][]ID    // adapters of the requests in flight on each replica, each once, in no order
	Idle   [][]ID    // adapters of requests that left it, in no use since, the last one at the end
	users  [][]int32 // parallel to InUse: requests in flight with the adapter
	recent []recent

	feedback *feedback // nil if nothing is measured
}

// recent is what one replica's signals do not show yet. A request takes part in Waiting from the sample after it got
// there, but its KV is in KVUsed for certain only in a sample after its first token: while it waits it holds nothing.
type recent struct {
	sent  line[sent]  // dispatches that the last sample cannot have seen
	begun line[begun] // first tokens that came after the last sample was taken
}

// sent is a dispatch that the replica's last sample did not see.
type sent struct {
	at      time.Duration
	started bool // its first token came
	ended   bool
}

// begun is a first token that the replica's last sample did not see.
type begun struct {
	at    time.Duration
	need  int64 // KV tokens; 0 once the request ended
	sent  int64 // serial number in recent.sent
	ended bool
}

// NewBook returns an empty book for n replicas.
func NewBook(n int) *Book {
	return &Book{Local: make([]Local, n), InUse: make([][]ID, n), Idle: make([][]ID, n), users: make([][]int32, n), recent: make([]recent, n)}
}

// join adds a replica at the end.
func (b *Book) join() {
	b.Local, b.recent = append(b.Local, Local{}), append(b.recent, recent{})
	b.InUse, b.Idle, b.users = append(b.InUse, nil), append(b.Idle, nil), append(b.users, nil)
	b.feedback.join()
}

// leave drops replica i and all that is booked on it; the last replica takes its place.
func (b *Book) leave(i int) {
	last := len(b.Local) - 1
	b.Local[i], b.recent[i] = b.Local[last], b.recent[last]
	b.InUse[i], b.Idle[i], b.users[i] = b.InUse[last], b.Idle[last], b.users[last]
	b.recent[last], b.InUse[last], b.Idle[last], b.users[last] = recent{}, nil, nil, nil
	b.Local, b.recent = b.Local[:last], b.recent[:last]
	b.InUse, b.Idle, b.users = b.InUse[:last], b.Idle[:last], b.users[:last]
	b.feedback.leave(i)
}

// Dispatched books a decision carried out at now.
func (b *Book) Dispatched(now time.Duration, r *Request, d *Decision) Ticket {
	t := Ticket{Replica: d.Replica, Charge: int64(d.Charge), Held: int64(r.PromptTokens) + int64(max(d.Output, output(r))), need: d.Need, begun: -1}
	l := &b.Local[d.Replica]
	l.InFlight++
	l.Pending++
	l.UncachedPrefill += t.Charge
	l.HeldTokens += t.Held
	l.SentSinceSample++
	l.SentTokens += t.need
	t.sent = b.recent[d.Replica].sent.push(sent{at: now})
	if r.Adapter != 0 {
		t.adapter = r.Adapter
		b.use(d.Replica, r.Adapter)
	}
	t.timing = timing{since: now, ahead: l.UncachedPrefill}
	return t
}

// Sampled tells that the replica's signals are now those taken at the instant taken, and that they show every dispatch
// made at or before seen. They may be known only much later: what came in between is not in them.
func (b *Book) Sampled(replica int, taken, seen time.Duration) {
	l, u := &b.Local[replica], &b.recent[replica]
	if u.sent.empty() && u.begun.empty() { // as most replicas of a large cluster are
		l.InSample, l.WaitingInSample = l.InFlight, l.Pending-l.SentSinceSample
		return
	}
	for s := u.sent.first(); s != nil && s.at <= seen; s = u.sent.first() {
		if !s.started {
			l.SentSinceSample--
		}
		u.sent.pop()
	}
	for f := u.begun.first(); f != nil && f.at <= taken; f = u.begun.first() {
		l.SentTokens -= f.need
		u.begun.pop()
	}
	l.InSample = l.InFlight - u.unseen()
	l.WaitingInSample = l.Pending - l.SentSinceSample + u.waited()
}

// FirstToken releases the ticket's charge. The request no longer waits, whether the sample has seen it or not.
func (b *Book) FirstToken(now time.Duration, t *Ticket) {
	if t.begun < 0 {
		b.begin(now, t)
		if b.feedback != nil {
			b.feedback.firstToken(now, t)
		}
	}
}

// begin takes the request off those that wait.
func (b *Book) begin(now time.Duration, t *Ticket) {
	l, u := &b.Local[t.Replica], &b.recent[t.Replica]
	l.Pending--
	l.UncachedPrefill -= t.Charge
	t.Charge = 0
	if s := u.sent.find(t.sent); s != nil {
		s.started = true
		l.SentSinceSample--
	}
	t.begun = u.begun.push(begun{at: now, need: t.need, sent: t.sent})
}

// Done releases all that the ticket still holds at now: the request finished, failed or was cancelled.
func (b *Book) Done(now time.Duration, t *Ticket) {
	if t.begun < 0 {
		b.begin(now, t)
	} else if b.feedback != nil {
		b.feedback.done(now, t)
	}
	l, u := &b.Local[t.Replica], &b.recent[t.Replica]
	l.InFlight--
	l.HeldTokens -= t.Held
	if f := u.begun.find(t.begun); f != nil {
		l.SentTokens -= f.need
		f.need, f.ended = 0, true
	}
	if s := u.sent.find(t.sent); s != nil {
		s.ended = true
	}
	if t.adapter != 0 {
		b.unuse(t.Replica, t.adapter)
	}
	t.Held, t.need, t.adapter = 0, 0, 0
	u.trim()
}

// unseen is how many requests in flight the last sample did not see.
func (u *recent) unseen() (n int32) {
	for _, s := range u.sent.all() {
		if !s.ended {
			n++
		}
	}
	return n
}

// waited is how many requests in flight have a first token that came after the last sample, which had seen them.
func (u *recent) waited() (n int32) {
	for _, f := range u.begun.all() {
		if !f.ended && f.sent < u.sent.next {
			n++
		}
	}
	return n
}

// trim drops what no sample will change, or a replica that never reports would fill the memory.
func (u *recent) trim() {
	for s := u.sent.first(); s != nil && s.ended; s = u.sent.first() {
		u.sent.pop()
	}
	for f := u.begun.first(); f != nil && f.ended; f = u.begun.first() {
		u.begun.pop()
	}
}
