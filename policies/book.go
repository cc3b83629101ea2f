package policies

import "time"

// Ticket is what a dispatch put in the book. The caller keeps it and hands it back.
type Ticket struct {
	Replica int
	Charge  int64 // uncached prompt tokens, released at the first token or at the end
	Held    int64 // prompt + estimated output tokens, released at the end
}

// Book is the router's own account of what it sent where.
type Book struct {
	Local  []Local
	unseen []sentQueue
}

// sent is a dispatch that the replica's last sample did not see.
type sent struct {
	at   time.Duration
	need int64
}

// sentQueue is a first-in first-out list of dispatches.
type sentQueue struct {
	items []sent
	head  int
}

// NewBook returns an empty book for n replicas.
func NewBook(n int) *Book {
	return &Book{Local: make([]Local, n), unseen: make([]sentQueue, n)}
}

// Dispatched books a decision carried out at now.
func (b *Book) Dispatched(now time.Duration, r *Request, d *Decision) Ticket {
	t := Ticket{Replica: d.Replica, Charge: int64(d.Charge), Held: int64(r.PromptTokens) + int64(r.EstOutput)}
	l := &b.Local[d.Replica]
	l.InFlight++
	l.UncachedPrefill += t.Charge
	l.HeldTokens += t.Held
	l.SentSinceSample++
	l.SentTokens += d.Need
	b.unseen[d.Replica].push(sent{now, d.Need})
	return t
}

// Sampled tells that the replica's signals now show every dispatch made at or before seen.
func (b *Book) Sampled(replica int, seen time.Duration) {
	l, q := &b.Local[replica], &b.unseen[replica]
	for q.head < len(q.items) && q.items[q.head].at <= seen {
		l.SentSinceSample--
		l.SentTokens -= q.items[q.head].need
		q.head++
	}
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
}

// FirstToken releases the ticket's charge.
func (b *Book) FirstToken(t *Ticket) {
	b.Local[t.Replica].UncachedPrefill -= t.Charge
	t.Charge = 0
}

// Done releases all that the ticket still holds: the request finished, failed or was cancelled.
func (b *Book) Done(t *Ticket) {
	b.FirstToken(t)
	l := &b.Local[t.Replica]
	l.InFlight--
	l.HeldTokens -= t.Held
	t.Held = 0
}

func (q *sentQueue) push(s sent) {
	if q.head > 64 && 2*q.head > len(q.items) {
		q.items = q.items[:copy(q.items, q.items[q.head:])]
		q.head = 0
	}
	q.items = append(q.items, s)
}
