package policies

import "time"

// Ticket is what a dispatch put in the book. The caller keeps it and hands it back.
type Ticket struct {
	Replica int
	Charge  int64 // uncached prompt tokens, released at the first token or at the end
	Held    int64 // prompt + estimated output tokens, released at the end
	serial  int64
}

// Book is the router's own account of what it sent where.
type Book struct {
	Local  []Local
	unseen []unseen
}

// unseen holds a replica's dispatches that its last sample cannot have seen, in order.
type unseen struct {
	items []sent // from index head on
	head  int
	first int64 // serial number of items[head]
}

// sent is a dispatch that the replica's last sample did not see.
type sent struct {
	at      time.Duration
	need    int64 // KV tokens, 0 once it is gone
	started bool  // its first token came
}

// NewBook returns an empty book for n replicas.
func NewBook(n int) *Book {
	return &Book{Local: make([]Local, n), unseen: make([]unseen, n)}
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
	t.serial = b.unseen[d.Replica].push(sent{at: now, need: d.Need})
	return t
}

// Sampled tells that the replica's signals now show every dispatch made at or before seen. It is to be called as soon
// as they are known.
func (b *Book) Sampled(replica int, seen time.Duration) {
	l, u := &b.Local[replica], &b.unseen[replica]
	for u.head < len(u.items) && u.items[u.head].at <= seen {
		s := &u.items[u.head]
		if !s.started {
			l.SentSinceSample--
		}
		l.SentTokens -= s.need
		u.head++
		u.first++
	}
	l.InSample = l.InFlight - l.SentSinceSample // exact but for requests whose first token came before a sample saw them
}

// FirstToken releases the ticket's charge. The request no longer waits, whether the sample has seen it or not.
func (b *Book) FirstToken(t *Ticket) {
	l := &b.Local[t.Replica]
	l.UncachedPrefill -= t.Charge
	t.Charge = 0
	if s := b.unseen[t.Replica].find(t.serial); s != nil && !s.started {
		s.started = true
		l.SentSinceSample--
	}
}

// Done releases all that the ticket still holds: the request finished, failed or was cancelled.
func (b *Book) Done(t *Ticket) {
	b.FirstToken(t)
	l := &b.Local[t.Replica]
	l.InFlight--
	l.HeldTokens -= t.Held
	t.Held = 0
	if s := b.unseen[t.Replica].find(t.serial); s != nil {
		l.SentTokens -= s.need
		s.need = 0
	}
}

// push appends a dispatch and returns its serial number.
func (u *unseen) push(s sent) int64 {
	if u.head > 64 && 2*u.head > len(u.items) {
		u.items = u.items[:copy(u.items, u.items[u.head:])]
		u.head = 0
	}
	u.items = append(u.items, s)
	return u.first + int64(len(u.items)-1-u.head)
}

// find returns the dispatch with a serial number, nil if the sample has seen it.
func (u *unseen) find(serial int64) *sent {
	if serial < u.first {
		return nil
	}
	return &u.items[u.head+int(serial-u.first)]
}
