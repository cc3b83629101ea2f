package policies

import "time"

// Ticket is what a dispatch put in the book. The caller keeps it and hands it back.
type Ticket struct {
	Replica int
	Charge  int64 // uncached prompt tokens, released at the first token or at the end
	Held    int64 // prompt + estimated output tokens, released at the end
	need    int64 // KV tokens, until it is known that the replica's signals count them
	serial  int64
	started int64 // samples taken before its first token
}

// Book is the router's own account of what it sent where.
type Book struct {
	Local  []Local
	recent []recent
}

// recent is what one replica's signals do not show yet. A request takes part in Waiting from the sample after it got
// there, but its KV is in KVUsed for certain only in a sample after its first token: while it waits it holds nothing.
type recent struct {
	unseen  []sent // dispatches that the last sample cannot have seen, in order, from index head on
	head    int
	first   int64 // serial number of unseen[head]
	samples int64 // taken so far
	started int64 // KV tokens of requests whose first token came since the last sample
}

// sent is a dispatch that the replica's last sample did not see.
type sent struct {
	at      time.Duration
	started bool // its first token came
}

// NewBook returns an empty book for n replicas.
func NewBook(n int) *Book {
	return &Book{Local: make([]Local, n), recent: make([]recent, n)}
}

// join adds a replica at the end.
func (b *Book) join() {
	b.Local, b.recent = append(b.Local, Local{}), append(b.recent, recent{})
}

// leave drops replica i and all that is booked on it; the last replica takes its place.
func (b *Book) leave(i int) {
	last := len(b.Local) - 1
	b.Local[i], b.recent[i] = b.Local[last], b.recent[last]
	b.recent[last] = recent{}
	b.Local, b.recent = b.Local[:last], b.recent[:last]
}

// Dispatched books a decision carried out at now.
func (b *Book) Dispatched(now time.Duration, r *Request, d *Decision) Ticket {
	t := Ticket{Replica: d.Replica, Charge: int64(d.Charge), Held: int64(r.PromptTokens) + int64(output(r)), need: d.Need}
	l := &b.Local[d.Replica]
	l.InFlight++
	l.UncachedPrefill += t.Charge
	l.HeldTokens += t.Held
	l.SentSinceSample++
	l.SentTokens += t.need
	t.serial = b.recent[d.Replica].push(sent{at: now})
	return t
}

// Sampled tells that the replica's signals now show every dispatch made at or before seen. It is to be called as soon
// as they are known.
func (b *Book) Sampled(replica int, seen time.Duration) {
	l, u := &b.Local[replica], &b.recent[replica]
	u.samples++
	l.SentTokens -= u.started
	u.started = 0
	for u.head < len(u.unseen) && u.unseen[u.head].at <= seen {
		if !u.unseen[u.head].started {
			l.SentSinceSample--
		}
		u.head++
		u.first++
	}
	l.InSample = l.InFlight - l.SentSinceSample
}

// FirstToken releases the ticket's charge. The request no longer waits, whether the sample has seen it or not.
func (b *Book) FirstToken(t *Ticket) {
	if t.started != 0 {
		return
	}
	l, u := &b.Local[t.Replica], &b.recent[t.Replica]
	l.UncachedPrefill -= t.Charge
	t.Charge = 0
	if s := u.find(t.serial); s != nil {
		s.started = true
		l.SentSinceSample--
	}
	t.started = u.samples + 1
	u.started += t.need
}

// Done releases all that the ticket still holds: the request finished, failed or was cancelled.
func (b *Book) Done(t *Ticket) {
	b.FirstToken(t)
	l, u := &b.Local[t.Replica], &b.recent[t.Replica]
	l.InFlight--
	l.HeldTokens -= t.Held
	if t.started == u.samples+1 { // no sample came since its first token
		l.SentTokens -= t.need
		u.started -= t.need
	}
	t.Held, t.need = 0, 0
}

// push appends a dispatch and returns its serial number.
func (u *recent) push(s sent) int64 {
	if u.head > 64 && 2*u.head > len(u.unseen) {
		u.unseen = u.unseen[:copy(u.unseen, u.unseen[u.head:])]
		u.head = 0
	}
	u.unseen = append(u.unseen, s)
	return u.first + int64(len(u.unseen)-1-u.head)
}

// find returns the dispatch with a serial number, nil if the sample has seen it.
func (u *recent) find(serial int64) *sent {
	if serial < u.first {
		return nil
	}
	return &u.unseen[u.head+int(serial-u.first)]
}
