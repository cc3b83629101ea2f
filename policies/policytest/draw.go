package policytest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/policies"
)

// Case is a request and what a policy may see of the replicas.
type Case struct {
	Request policies.Request
	View    policies.View
}

// Draw returns a case with 0 to 9 replicas of two models. Prompts and KV capacities are powers of two and counts are
// small, so that with dyadic weights every score is exact and laws about equality hold to the bit.
func Draw(t *rapid.T) Case {
	n := rapid.IntRange(0, 9).Draw(t, "replicas")
	c := Case{View: policies.View{Now: time.Hour, Routers: rapid.IntRange(0, 3).Draw(t, "routers")}}
	for i := range n {
		c.View.Replicas = append(c.View.Replicas, drawReplica(t, fmt.Sprintf("r%d", i)))
		c.View.Local = append(c.View.Local, drawLocal(t))
		c.View.InUse = append(c.View.InUse, drawAdapters(t, "in use"))
		c.View.Idle = append(c.View.Idle, drawIdle(t, c.View.InUse[i]))
	}
	c.View.Hits = make([]policies.Hit, n)
	c.Request = DrawRequest(t)
	for i := range c.View.Hits {
		tokens := rapid.Int32Range(0, c.Request.PromptTokens-1).Draw(t, "hit")
		c.View.Hits[i] = policies.Hit{Tokens: tokens, Held: rapid.Int32Range(0, tokens).Draw(t, "held")}
	}
	return c
}

// DrawRequest returns a request for one of two models, or for any, with up to four blocks.
func DrawRequest(t *rapid.T) policies.Request {
	r := policies.Request{
		Key:          rapid.Uint64().Draw(t, "key"),
		Model:        policies.ID(rapid.Int32Range(0, 2).Draw(t, "model")),
		Adapter:      policies.ID(rapid.Int32Range(0, 2).Draw(t, "adapter")),
		Session:      rapid.Uint64Range(0, 2).Draw(t, "session"),
		Template:     rapid.Uint64Range(0, 1).Draw(t, "template"),
		Needs:        policies.Caps(rapid.Uint64Range(0, 3).Draw(t, "needs")),
		PromptTokens: 1 << rapid.IntRange(0, 12).Draw(t, "log2 prompt"),
		EstOutput:    rapid.Int32Range(0, 1000).Draw(t, "output"),
		MaxOutput:    500 * rapid.Int32Range(0, 1).Draw(t, "max output/500"),
		BlockTokens:  16 * rapid.Int32Range(0, 1).Draw(t, "cut"),
	}
	for range rapid.IntRange(0, 4).Draw(t, "blocks") {
		r.Blocks = append(r.Blocks, policies.Block{Hash: rapid.Uint64Range(1, 9).Draw(t, "hash"), Tokens: 64})
	}
	return r
}

func drawReplica(t *rapid.T, name string) policies.Replica {
	rep := policies.Replica{
		Name:     name,
		Salt:     policies.Salt(name),
		Model:    policies.ID(rapid.Int32Range(1, 2).Draw(t, "serves")),
		Caps:     policies.Caps(rapid.Uint64Range(0, 3).Draw(t, "caps")) | 1,
		Cordoned: rapid.IntRange(0, 4).Draw(t, "cordon") == 0,
		Signals: policies.Signals{
			Have:      policies.Field(rapid.Uint16Range(0, 31).Draw(t, "have")),
			Waiting:   rapid.Int32Range(0, 70).Draw(t, "waiting"),
			Running:   rapid.Int32Range(0, 70).Draw(t, "running"),
			KVUsed:    float64(rapid.IntRange(0, 8).Draw(t, "used/8")) / 8,
			KVTokens:  1 << rapid.IntRange(10, 16).Draw(t, "log2 kv"),
			BlockSize: 16 * rapid.Int32Range(0, 1).Draw(t, "block size"),
			SampledAt: time.Hour - time.Duration(rapid.IntRange(0, 5).Draw(t, "age s"))*time.Second,

			MaxAdapters: rapid.Int32Range(0, 3).Draw(t, "adapter slots"),
			Resident:    rapid.Bool().Draw(t, "resident"),
		},
	}
	rep.Adapters = drawAdapters(t, "told")
	return rep
}

// drawAdapters draws up to three of four adapters, of which requests name two. One may come twice.
func drawAdapters(t *rapid.T, what string) (ids []policies.ID) {
	for range rapid.IntRange(0, 3).Draw(t, "adapters "+what) {
		ids = append(ids, policies.ID(rapid.Int32Range(1, 4).Draw(t, "adapter "+what)))
	}
	return ids
}

func drawLocal(t *rapid.T) policies.Local {
	return policies.Local{
		InFlight:        rapid.Int32Range(0, 3).Draw(t, "in flight"),
		UncachedPrefill: 512 * rapid.Int64Range(0, 8).Draw(t, "uncached/512"),
		HeldTokens:      512 * rapid.Int64Range(0, 8).Draw(t, "in flight tokens/512"),
		SentSinceSample: rapid.Int32Range(0, 3).Draw(t, "sent"),
		Pending:         rapid.Int32Range(0, 3).Draw(t, "pending"),
		WaitingInSample: rapid.Int32Range(0, 3).Draw(t, "waiting in sample"),
		PrefillRate:     1024 * float32(rapid.IntRange(0, 4).Draw(t, "rate/1024")),
		InSample:        rapid.Int32Range(0, 3).Draw(t, "in sample"),
		SentTokens:      512 * rapid.Int64Range(0, 8).Draw(t, "sent tokens/512"),
		TTFT:            float64(rapid.IntRange(0, 4).Draw(t, "ttft")),
		TPOT:            float64(rapid.IntRange(0, 4).Draw(t, "tpot")),
	}
}

// clone returns a deep copy.
func (c Case) clone() Case {
	c.Request.Blocks = slices.Clone(c.Request.Blocks)
	return c.reorder(identity(len(c.View.Replicas)))
}

// reorder returns a copy of the case whose i-th replica is the order[i]-th of c; replicas not named are left out.
func (c Case) reorder(order []int) Case {
	from := c.View
	c.View = policies.View{Now: from.Now, Routers: from.Routers}
	for _, i := range order {
		rep := from.Replicas[i]
		rep.Adapters = slices.Clone(rep.Adapters)
		c.View.Replicas = append(c.View.Replicas, rep)
		c.View.Local = append(c.View.Local, from.Local[i])
		c.View.InUse = append(c.View.InUse, slices.Clone(from.InUse[i]))
		c.View.Idle = append(c.View.Idle, slices.Clone(from.Idle[i]))
		c.View.Hits = append(c.View.Hits, from.Hits[i])
	}
	return c
}

func identity(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}
