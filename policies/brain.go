package policies

import (
	"errors"
	"fmt"
)

// brain is a policy with what it can do, and where it comes from.
type brain struct {
	policy   Policy
	observer Observer // nil if it has no memory
	finisher Finisher // nil if it learns nothing from outputs
	believer Believer // nil if it has no belief
	mover    Mover    // nil if its memory does not know replicas by their places
	file     WeightsFile
	sum      string // of the weights file, "" for a policy that has none
	memory   uint64 // differs from that of a brain whose memory was not kept
}

// Mover is an optional interface of policies whose memory knows replicas by their places in the view.
type Mover interface {
	// Forget tells that the replica left or lost its cache.
	Forget(replica int)
	// Move tells that the replica at from is now at to, whose former replica left.
	Move(from, to int)
}

var _ Mover = (*Score)(nil)

func brainOf(w WeightsFile) (brain, error) {
	if err := w.check(); err != nil {
		return brain{}, fmt.Errorf("pool: %w", err)
	}
	b, err := brainFrom(NewScore(w.Config))
	b.file, b.sum = w, w.Sum()
	return b, err
}

func brainFrom(p Policy) (brain, error) {
	if u, ok := p.(TruthUser); ok && u.WantsTruth() {
		return brain{}, errors.New("pool: the policy wants the truth about the replicas' caches, which only a simulator has")
	}
	if d, ok := p.(delayed); ok && d.feedDelay() > 0 {
		return brain{}, fmt.Errorf("pool: the policy delays events by %v, as a simulated feed; want delay=0s: a live feed has its own", d.feedDelay())
	}
	b := brain{policy: p}
	b.observer, _ = p.(Observer)
	b.finisher, _ = p.(Finisher)
	b.believer, _ = p.(Believer)
	b.mover, _ = p.(Mover)
	return b, nil
}

// Swap puts other weights in force, whole and at once: no decision sees parts of both. Requests in flight stay booked.
// The belief about prefixes is kept if the new file believes by the same rules on the same chain.
func (p *Pool) Swap(w WeightsFile) error {
	next, err := brainOf(w)
	if err == nil {
		p.swap(next)
	}
	return err
}

// SwapPolicy puts another policy in force, with its own memory. The policy belongs to the Pool from now on.
func (p *Pool) SwapPolicy(policy Policy) error {
	next, err := brainFrom(policy)
	if err == nil {
		p.swap(next)
	}
	return err
}

func (p *Pool) swap(next brain) {
	defer p.change()()
	old := &p.brain
	next.memory = old.memory
	if !next.keeps(old) {
		next.memory++
	}
	p.brain = next
	p.measure()
}

// keeps takes over what the old brain believes, and tells whether it could.
func (b *brain) keeps(old *brain) bool {
	was, ok := old.policy.(*Score)
	is, same := b.policy.(*Score)
	return ok && same && old.file.Chain == b.file.Chain && old.file.BlockTokens == b.file.BlockTokens && is.keep(was)
}

// Weights returns the sum of the weights file in force, "" for a policy that has none.
func (p *Pool) Weights() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.brain.sum
}
