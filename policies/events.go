package policies

import "time"

// EventSink is an optional interface of policies that are told what the replicas store and evict, as vLLM tells by its KV
// events. Of one replica the events come in order of time. A replica that lost its whole cache is a Mover's Forget.
type EventSink interface {
	// WantsEvents tells whether the policy looks at events; if not, nobody needs to tell it any.
	WantsEvents() bool

	// Stored tells that the replica now has these blocks of one prefix, in order: of each its first Tokens tokens. The
	// blocks are not kept.
	Stored(now time.Duration, replica int, blocks []Block)

	// Evicted tells that the replica lost the last tokens of a block, or all of it if it had no more.
	Evicted(now time.Duration, replica int, hash uint64, tokens int32)
}

var _ EventSink = (*Score)(nil)

// WantsEvents tells whether the belief is PrefixFromEvents.
func (s *Score) WantsEvents() bool { return s.config.Prefix == PrefixFromEvents }

// Stored tells what a replica has from now on.
func (s *Score) Stored(now time.Duration, replica int, blocks []Block) {
	if e, ok := s.belief.(*events); ok {
		e.stored(now, replica, blocks)
	}
}

// Evicted tells what a replica lost.
func (s *Score) Evicted(now time.Duration, replica int, hash uint64, tokens int32) {
	if e, ok := s.belief.(*events); ok {
		e.evict(now, replica, hash, tokens)
	}
}

// events believes what the engines tell, and for a while what was sent and is not told of yet. Events of a simulated feed
// take effect after its delay: they are filed at the next call, which may be a believe; with no delay believe only reads.
type events struct {
	delay, spec time.Duration
	blocks      map[uint64]*holders // ranged over to forget, to move and to count only
	feed        line[event]         // told and not in force yet, in order of time
	guesses     line[guess]         // speculative entries, in order of time
	evicted     int64
}

// event is one block stored, or cut by tokens.
type event struct {
	at      time.Duration // when it comes into force
	hash    uint64
	replica int32
	tokens  int32 // stored: its first tokens are there; evicted: minus how many are lost
}

// guess is a block that a replica is believed to have until then, whatever it tells.
type guess struct {
	until   time.Duration
	hash    uint64
	replica int32
}

// holders are the replicas that have a block, in no order.
type holders struct {
	all  []holder
	uses uint32
}

type holder struct {
	replica  int32
	tokens   int32         // told to be there, from the block's start
	sent     int32         // tokens that were sent, to be believed in
	inFlight int32         // own requests that use it
	until    time.Duration // end of the belief in what was sent; 0: none
}

func newEvents(delay, spec time.Duration) *events {
	return &events{delay: delay, spec: spec, blocks: map[uint64]*holders{}}
}

func (e *events) stored(now time.Duration, replica int, blocks []Block) {
	for _, b := range blocks {
		if b.Tokens > 0 {
			e.tell(event{now + e.delay, b.Hash, int32(replica), b.Tokens}, now)
		}
	}
}

func (e *events) evict(now time.Duration, replica int, hash uint64, tokens int32) {
	if tokens > 0 {
		e.tell(event{now + e.delay, hash, int32(replica), -tokens}, now)
	}
}

// tell files an event at once, or keeps it until it is due.
func (e *events) tell(v event, now time.Duration) {
	e.file(now)
	if e.delay == 0 {
		e.apply(&v)
		return
	}
	e.feed.push(v)
}

// file brings into force what is due.
func (e *events) file(now time.Duration) {
	for v := e.feed.first(); v != nil && v.at <= now; v = e.feed.first() {
		e.apply(v)
		e.feed.pop()
	}
}

func (e *events) apply(v *event) {
	if v.replica == nobody {
		return
	}
	if v.tokens > 0 {
		h := e.hold(v.hash, v.replica)
		h.tokens = max(h.tokens, v.tokens)
		return
	}
	if h := e.find(v.hash, v.replica); h != nil && h.tokens > 0 {
		h.tokens = max(0, h.tokens+v.tokens)
		e.evicted++
		e.sweep(v.hash, v.replica)
	}
}

// believe walks the prefix: a replica's hit ends where it first lacks something.
func (e *events) believe(r *Request, v *View) {
	if e.feed.first() != nil {
		e.file(v.Now)
	}
	clear(v.Hits)
	var before int32
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if b.Tokens <= 0 {
			continue
		}
		row := e.blocks[b.Hash]
		if row == nil {
			break
		}
		for j := range row.all {
			if h := &row.all[j]; int(h.replica) < len(v.Hits) {
				h.credit(&v.Hits[h.replica], before, b.Tokens, v.Now)
			}
		}
		before += b.Tokens
	}
	limitHits(v.Hits, max(0, r.PromptTokens-1))
}

// credit extends a hit that reaches up to before.
func (h *holder) credit(hit *Hit, before, tokens int32, now time.Duration) {
	have := h.tokens
	if now < h.until {
		have = max(have, h.sent)
	}
	if hit.Tokens != before || have == 0 {
		return
	}
	hit.Tokens += min(have, tokens)
	if h.inFlight > 0 && hit.Held == before {
		hit.Held = hit.Tokens
	}
}

func (e *events) dispatched(r *Request, v *View, replica int) {
	e.expire(v.Now)
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if b.Tokens <= 0 {
			continue
		}
		h := e.hold(b.Hash, int32(replica))
		h.inFlight++
		e.blocks[b.Hash].uses++
		if e.spec > 0 {
			h.sent, h.until = max(h.sent, b.Tokens), v.Now+e.spec
			e.guesses.push(guess{h.until, b.Hash, int32(replica)})
		}
	}
}

// expire ends guesses whose time is over.
func (e *events) expire(now time.Duration) {
	for g := e.guesses.first(); g != nil && g.until <= now; g = e.guesses.first() {
		if h := e.find(g.hash, g.replica); h != nil && h.until <= now {
			h.sent, h.until = 0, 0
			e.sweep(g.hash, g.replica)
		}
		e.guesses.pop()
	}
}

func (e *events) completed(r *Request, replica int) {
	for i := range r.Blocks {
		if h := e.find(r.Blocks[i].Hash, int32(replica)); h != nil {
			h.inFlight = max(0, h.inFlight-1)
			e.sweep(r.Blocks[i].Hash, int32(replica))
		}
	}
}

// find returns a replica's place among a block's holders, nil if it has none. It is valid until the next hold or sweep.
func (e *events) find(hash uint64, replica int32) *holder {
	row := e.blocks[hash]
	if row == nil {
		return nil
	}
	for j := range row.all {
		if row.all[j].replica == replica {
			return &row.all[j]
		}
	}
	return nil
}

// hold is find that adds what is not there.
func (e *events) hold(hash uint64, replica int32) *holder {
	if h := e.find(hash, replica); h != nil {
		return h
	}
	row := e.blocks[hash]
	if row == nil {
		row = &holders{}
		e.blocks[hash] = row
	}
	row.all = append(row.all, holder{replica: replica})
	return &row.all[len(row.all)-1]
}

// sweep drops a holder of nothing, and a block without holders.
func (e *events) sweep(hash uint64, replica int32) {
	row := e.blocks[hash]
	for j := range row.all {
		h := &row.all[j]
		if h.replica != replica || h.tokens > 0 || h.inFlight > 0 || h.until > 0 {
			continue
		}
		last := len(row.all) - 1
		row.all[j] = row.all[last]
		row.all = row.all[:last]
		break
	}
	if len(row.all) == 0 {
		delete(e.blocks, hash)
	}
}
