package policies

import (
	"errors"
	"fmt"
	"math"
)

// ChainV1 names the only chain there is. A change of any hash is another name.
const ChainV1 = "triage-chain/1"

// Chain cuts prompts into blocks and hashes them, each hash covering all before its block too: equal hashes mean equal
// prefixes in equal scopes. Routers that share a belief, and a router and its own log, need the same chain.
//
// triage-chain/1 is a fold of 64-bit words by mix (see hash.go), from 0:
//
//   - 1 for token ids or 2 for text, then BlockTokens;
//   - each field of the scope, in order: its bytes' number, then the bytes as little-endian words, the last padded with
//     zeros;
//   - each block: its token ids, two a word, the earlier in the low half; or its bytes as in a scope. Then the block's
//     number of ids or bytes. What the fold is now is the block's hash, and the next block goes on from it.
//
// The lengths keep a scope's fields apart. It is no cryptographic hash: who forges a collision sends his own requests
// to a replica that lacks their prefix, no more, since a hash is only ever a belief.
type Chain struct {
	Name        string // ChainV1; "" means that too
	BlockTokens int    // tokens in a block, at least 1. A multiple of the engine's block size loses nothing
	Scope       Scope
	Partial     bool // the tail of the prompt is a block too, though an engine caches whole blocks only
}

// Scope is what keeps equal prompts apart: engines share a prefix only within one model, adapter and salt.
type Scope struct {
	Model   string
	Adapter string // LoRA name, "" for the base model
	Tenant  string // "" if tenants share prefixes
	Salt    string // vLLM's cache_salt
}

// textBytes is how many bytes of text are taken for a token.
const textBytes = 4

const (
	tokenKind = 1
	textKind  = 2
)

// Check returns an error if the chain cannot hash.
func (c *Chain) Check() error {
	if c.Name != "" && c.Name != ChainV1 {
		return unknown("chain", c.Name, []string{ChainV1})
	}
	if c.BlockTokens < 1 || c.BlockTokens > math.MaxInt32/textBytes {
		return fmt.Errorf("chain %s: block tokens is %d, want 1..%d", ChainV1, c.BlockTokens, math.MaxInt32/textBytes)
	}
	return nil
}

// NewChain returns the chain that the file was tuned for, in a scope. A file tuned on the block ids of a trace knows none:
// its BlockTokens is to be set first.
func (w WeightsFile) NewChain(s Scope) (Chain, error) {
	if w.BlockTokens == 0 {
		return Chain{}, errors.New("weights file: prefix.block_tokens is 0, so no chain is known; set BlockTokens to the engines' block size or a multiple")
	}
	c := Chain{Name: w.Chain, BlockTokens: w.BlockTokens, Scope: s}
	return c, c.Check()
}

// Tokens appends the blocks of a prompt's token ids to dst, root first: whole blocks, and the tail if the chain is
// Partial. It panics if Check does not pass.
func (c *Chain) Tokens(dst []Block, ids []int32) []Block {
	h := c.seed(tokenKind)
	for len(ids) > 0 {
		n := min(len(ids), c.BlockTokens)
		if n < c.BlockTokens && !c.Partial {
			break
		}
		h = mix(foldTokens(h, ids[:n]), uint64(n))
		dst = append(dst, Block{Hash: h, Tokens: int32(n)})
		ids = ids[n:]
	}
	return dst
}

// Text appends the blocks of a prompt whose token ids are not known: its UTF-8 bytes, four taken for a token. The
// blocks do not end where the engine's do, so a believed hit is off by some part of it; what comes out is right in
// which prompts share how much, and is approximate in tokens. It panics if Check does not pass.
func (c *Chain) Text(dst []Block, prompt string) []Block {
	h := c.seed(textKind)
	size := c.BlockTokens * textBytes
	for len(prompt) > 0 {
		n := min(len(prompt), size)
		if n < size && !c.Partial {
			break
		}
		h = mix(foldText(h, prompt[:n]), uint64(n))
		dst = append(dst, Block{Hash: h, Tokens: TextTokens(n)})
		prompt = prompt[n:]
	}
	return dst
}

// TextTokens is the number of tokens for which so many bytes of text are taken.
func TextTokens(bytes int) int32 { return int32((bytes + textBytes - 1) / textBytes) }

// seed is where the chain of this kind begins.
func (c *Chain) seed(kind uint64) uint64 {
	if err := c.Check(); err != nil {
		panic("policies: " + err.Error())
	}
	h := mix(mix(0, kind), uint64(c.BlockTokens))
	for _, field := range [...]string{c.Scope.Model, c.Scope.Adapter, c.Scope.Tenant, c.Scope.Salt} {
		h = foldText(mix(h, uint64(len(field))), field)
	}
	return h
}

func foldTokens(h uint64, ids []int32) uint64 {
	for ; len(ids) >= 2; ids = ids[2:] {
		h = mix(h, uint64(uint32(ids[0]))|uint64(uint32(ids[1]))<<32)
	}
	if len(ids) > 0 {
		h = mix(h, uint64(uint32(ids[0])))
	}
	return h
}

func foldText(h uint64, s string) uint64 {
	for ; len(s) >= 8; s = s[8:] {
		h = mix(h, uint64(s[0])|uint64(s[1])<<8|uint64(s[2])<<16|uint64(s[3])<<24|
			uint64(s[4])<<32|uint64(s[5])<<40|uint64(s[6])<<48|uint64(s[7])<<56)
	}
	if len(s) == 0 {
		return h
	}
	var word uint64
	for i := range len(s) {
		word |= uint64(s[i]) << (8 * i)
	}
	return mix(h, word)
}
