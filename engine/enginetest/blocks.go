package enginetest

// refBlock is one KV block of the pool.
type refBlock struct {
	holders int
	key     refKey // what it holds, once it is full and has an identity

	generated bool // it has generated tokens, for seen
}

// refKey is a block's identity: a place in the prefix forest, or a place in one sequence. The zero key is none.
type refKey struct {
	owner refOwner
	node  int32 // when shared
	seq   int   // when private
	index int   // block of the sequence
}

type refOwner int

const (
	refNone refOwner = iota
	refShared
	refPrivate
)

// refPool is the pool of KV blocks. A block is held, in the free queue, or empty.
type refPool struct {
	all      []*refBlock
	empty    []*refBlock
	queue    []*refBlock // head first
	resident map[refKey]*refBlock
}

func newRefPool(n int) refPool {
	p := refPool{resident: map[refKey]*refBlock{}}
	for range n {
		b := &refBlock{}
		p.all = append(p.all, b)
		p.empty = append(p.empty, b)
	}
	return p
}

// available is how many blocks can be taken.
func (p *refPool) available() int { return len(p.empty) + len(p.queue) }

// take returns a block without content: an empty one, or else the head of the free queue.
func (p *refPool) take() (b *refBlock, evicted bool) {
	if len(p.empty) > 0 {
		b, p.empty = p.empty[0], p.empty[1:]
		return b, false
	}
	b, p.queue = p.queue[0], p.queue[1:]
	p.forget(b)
	return b, true
}

// hold adds a holder to a resident block.
func (p *refPool) hold(b *refBlock) {
	if b.holders == 0 {
		for i := range p.queue {
			if p.queue[i] == b {
				p.queue = append(p.queue[:i:i], p.queue[i+1:]...)
				break
			}
		}
	}
	b.holders++
}

// forget takes b's identity.
func (p *refPool) forget(b *refBlock) {
	if b.key.owner != refNone {
		delete(p.resident, b.key)
		b.key, b.generated = refKey{}, false
	}
}

// name gives b an identity under which it can be hit.
func (p *refPool) name(b *refBlock, k refKey) {
	if p.resident[k] != nil {
		panic("enginetest: two blocks of one identity")
	}
	b.key = k
	p.resident[k] = b
}

// free lets go of all blocks of s, last block first.
func (r *Reference) free(s *refSeq) {
	for k := len(s.blocks) - 1; k >= 0; k-- {
		b := s.blocks[k]
		b.holders--
		full := (k+1)*r.cfg.BlockSize <= s.computed
		switch {
		case b.holders > 0:
		case full && r.cfg.EnablePrefixCaching:
			r.pool.queue = append(r.pool.queue, b)
		default:
			r.pool.empty = append(r.pool.empty, b)
		}
	}
	s.blocks = nil
}

// nameBlocks caches the blocks of s that became full since it had computed only before tokens.
func (r *Reference) nameBlocks(s *refSeq, before int) {
	if !r.cfg.EnablePrefixCaching {
		return
	}
	for k := before / r.cfg.BlockSize; (k+1)*r.cfg.BlockSize <= s.computed; k++ {
		r.nameBlock(s, k)
	}
}

// nameBlock caches block k of s: shared while everything before it is and nobody cached the same, private otherwise.
func (r *Reference) nameBlock(s *refSeq, k int) {
	follows := k == 0 || s.blocks[k-1].key.owner == refShared
	if follows && k < r.identified(s.Leaf, s.named()) {
		key := r.sharedKey(s.Leaf, k)
		if r.pool.resident[key] == nil {
			if (k+1)*r.cfg.BlockSize > int(s.Prompt) {
				r.seen.generated++
			}
			s.blocks[k].generated = (k+1)*r.cfg.BlockSize > int(s.Prompt)
			r.pool.name(s.blocks[k], key)
			return
		}
		r.seen.duplicates++
	}
	own := refKey{owner: refPrivate, seq: s.serial, index: k}
	if r.AtOnce && r.pool.resident[own] != nil {
		return // an older copy of its own is still there
	}
	r.pool.name(s.blocks[k], own)
}

// hitBlocks returns the blocks that s finds in the cache: those of its prompt, then its own.
func (r *Reference) hitBlocks(s *refSeq) []*refBlock {
	var hit []*refBlock
	if !r.cfg.EnablePrefixCaching {
		return nil
	}
	most := (s.tokens() - 1) / r.cfg.BlockSize
	for len(hit) < min(most, r.identified(s.Leaf, s.named())) {
		b := r.pool.resident[r.sharedKey(s.Leaf, len(hit))]
		if b == nil {
			break
		}
		if b.generated && !s.admitted {
			r.seen.generatedHits++
		}
		hit = append(hit, b)
	}
	for len(hit) < most {
		b := r.pool.resident[refKey{owner: refPrivate, seq: s.serial, index: len(hit)}]
		if b == nil {
			break
		}
		hit = append(hit, b)
		r.seen.ownHits++
	}
	return hit
}

// forgetOwn takes the identity of the private blocks of s that it did not hit.
func (r *Reference) forgetOwn(s *refSeq) {
	for _, b := range r.pool.queue {
		if b.key.owner == refPrivate && b.key.seq == s.serial {
			r.pool.forget(b)
		}
	}
}
