package policies

// bucket believes that a prefix is warm on a few owners: the replicas with the highest rendezvous hashes of the key
// of its template, or of its first tokens if the application declares none (Thaler, Ravishankar: "Using name-based
// mappings to increase hit rates", 1998). It has no memory, so any number of routers agree. A prompt without a template
// and a whole block has no owner. Pick bounds the owners' load: Believe does not see it.
type bucket struct {
	memoryless
	tokens int32 // of the prefix that is hashed
	owners int   // 1..maxOwners
}

func (b *bucket) believe(r *Request, v *View) {
	clear(v.Hits)
	tokens, key := b.prefix(r)
	if tokens == 0 {
		return
	}
	least := b.leastOwner(r, v, key)
	hit := max(0, min(tokens, r.PromptTokens-1))
	for i := range v.Hits {
		if rep := &v.Replicas[i]; owns(r, rep) && mix(key, rep.Salt) >= least {
			v.Hits[i].Tokens = hit
		}
	}
}

// leastOwner returns the smallest hash of an owner.
func (b *bucket) leastOwner(r *Request, v *View, key uint64) uint64 {
	var high [maxOwners]uint64 // falling
	n := 0
	for i := range v.Replicas {
		rep := &v.Replicas[i]
		if !owns(r, rep) {
			continue
		}
		h := mix(key, rep.Salt)
		if n == b.owners && h <= high[n-1] {
			continue
		}
		n = min(n+1, b.owners)
		j := n - 1
		for ; j > 0 && high[j-1] < h; j-- {
			high[j] = high[j-1]
		}
		high[j] = h
	}
	if n == 0 {
		return 0
	}
	return high[n-1]
}

// owns tells whether the replica can be an owner: it has the model and what the request needs, and takes work.
func owns(r *Request, rep *Replica) bool { return capable(r, rep) == passed }

// prefix returns how many tokens an owner is believed to have, and the key that names the owners. A template may be of
// any length: where the prompt's blocks are unknown an owner is believed to have as much as is hashed otherwise.
func (b *bucket) prefix(r *Request) (tokens int32, key uint64) {
	tokens, key = cutAt(r, b.tokens)
	if r.Template == 0 {
		return tokens, key
	}
	if len(r.Blocks) == 0 {
		tokens = b.tokens
	}
	return tokens, mix(r.Template, templateKey)
}

// templateKey keeps the keys of templates apart from those of prefixes.
const templateKey = 0x74656d706c617465

// beliefs says in how many places a prefix is believed to be.
func (b *bucket) beliefs(int) BeliefStats { return BeliefStats{Owners: b.owners} }
