package policies

// pick is what all candidates of one Pick have in common.
type pick struct {
	config  *ScoreConfig
	request *Request
	prompt  float64 // its tokens, at least 1
	whole   int64   // prompt + expected output, tokens
	most    int32   // prompt tokens that may count as hit
	best    int32   // largest hit among the candidates
	output  int32   // expected, tokens
	foreign float64 // tokens of work that a waiting request of another router stands for; 0 if they do not count
	share   float64 // PrefixBucket: load of an owner above which it is none; +Inf if there is no bound

	// The last need computed and for what: most candidates share it, and a division is slow.
	lastNeed            int64
	lastHeld, lastBlock int32
}

func (p *pick) begin(r *Request, output int32) {
	p.request, p.prompt = r, float64(max(1, r.PromptTokens))
	p.output, p.foreign = output, 0
	p.whole = int64(r.PromptTokens) + int64(output)
	p.most, p.best = hitLimit(r, p.config.PrefixTokens), 0
	p.lastHeld = -1
}

// need is the KV tokens that the request takes beyond those known to be held: what is to be computed, the expected
// output, and hits that only lie in the cache, since reviving them takes free blocks. It is rounded up to blocks.
func (p *pick) need(held, block int32) int64 {
	if held == p.lastHeld && block == p.lastBlock {
		return p.lastNeed
	}
	n := p.whole - int64(held)
	if b := int64(block); b > 0 {
		n = (n + b - 1) / b * b
	}
	p.lastHeld, p.lastBlock, p.lastNeed = held, block, n
	return n
}
