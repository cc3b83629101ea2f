package policies

import (
	"math"
	"time"
)

// BeliefConfig sets up what a Score believes the replicas have cached.
type BeliefConfig struct {
	Prefix       Prefix        // where the belief comes from
	PrefixTokens int           // most prefix tokens that count, floored to a block; PrefixBucket hashes as many. 0: all, or 1024 for PrefixBucket
	TTL          time.Duration // PrefixFromIndex: forget what was not used for so long; 0 never
	Capacity     float64       // PrefixFromIndex: tokens kept a replica; up to maxFactor it is times the replica's KV capacity
	Order        Order         // PrefixFromIndex: what is dropped first beyond the capacity
	Delay        time.Duration // PrefixFromEvents: how late a simulated feed tells; a live one has a delay of its own
	Spec         time.Duration // PrefixFromEvents: believe for so long in what was sent and is not told of yet; 0 not at all
	Owners       int           // PrefixBucket: warm replicas a prefix has
	Bound        float64       // PrefixBucket: an owner with more than this times its share of the load is none for now; 0 always is one
	BoundBy      BoundBy       // PrefixBucket: what that load is
}

// Prefix names a source of the belief about cached prefixes.
type Prefix string

const (
	PrefixFromIndex  Prefix = "index"  // the router's record of what it sent where
	PrefixBucket     Prefix = "bucket" // a hash of the first tokens or of the template names a few owners
	PrefixFromEvents Prefix = "events" // what the engines tell that they stored and evicted
	PrefixOracle     Prefix = "oracle" // the truth, in a simulator
)

// Order names the end of a prefix that an index drops first.
type Order string

const (
	LeafFirst Order = "leaf" // as an engine does: who has a block has all before it
	RootFirst Order = "root" // as llm-d's approximate index does, whose LRU inserts the root first
)

// BoundBy names the load that bounds an owner, both of the router's own book.
type BoundBy string

const (
	BoundByRequests BoundBy = "requests" // in flight
	BoundByTokens   BoundBy = "tokens"   // prompt and expected output tokens in flight
)

// bucketTokens is PrefixTokens of a PrefixBucket that was not told.
const bucketTokens = 1024

// maxOwners bounds Owners.
const maxOwners = 64

// maxFactor is the largest Capacity that is a factor: no replica has so few tokens.
const maxFactor = 100

func defaultBelief() BeliefConfig {
	return BeliefConfig{Prefix: PrefixFromIndex, Capacity: 1, Order: LeafFirst, Owners: 2, Bound: 1.25, BoundBy: BoundByRequests}
}

func beliefKnobs() []field[ScoreConfig] {
	return []field[ScoreConfig]{
		{name: "prefix", doc: "belief: index = what was sent where; bucket = a hash names owners; events = what engines tell; oracle = the truth, in replay only",
			at: func(c *ScoreConfig) any { return (*string)(&c.Prefix) }, names: []string{"index", "bucket", "events", "oracle"}},
		{name: "n", doc: "most prefix tokens that count, floored to a block; 0 = all (bucket: 1024)",
			at: func(c *ScoreConfig) any { return &c.PrefixTokens }, max: math.MaxInt32},
		{name: "ttl", doc: "forget a prefix not used for so long, with prefix=index; 0s = never",
			at: func(c *ScoreConfig) any { return &c.TTL }},
		{name: "capacity", doc: "tokens that a replica is believed to keep, with prefix=index; up to 100 = times its KV capacity; 0 = no bound",
			at: func(c *ScoreConfig) any { return &c.Capacity }, max: 1e9},
		{name: "order", doc: "end of a prefix that is dropped first beyond the capacity, with prefix=index; root imitates llm-d's index",
			at: func(c *ScoreConfig) any { return (*string)(&c.Order) }, names: []string{"leaf", "root"}},
		{name: "delay", doc: "how late the engines' events are told, with prefix=events, in replay only",
			at: func(c *ScoreConfig) any { return &c.Delay }},
		{name: "spec", doc: "believe for so long in what was sent and not told of yet, with prefix=events; 0s = not at all",
			at: func(c *ScoreConfig) any { return &c.Spec }},
		{name: "k", doc: "owners of a prefix with prefix=bucket",
			at: func(c *ScoreConfig) any { return &c.Owners }, min: 1, max: maxOwners},
		{name: "bound", doc: "with prefix=bucket, an owner above this times the mean load is none for now, and the best other is taken; 0 = no bound",
			at: func(c *ScoreConfig) any { return &c.Bound }, max: 1e9},
		{name: "bound_by", doc: "the load that bound looks at: own requests in flight, or their tokens",
			at: func(c *ScoreConfig) any { return (*string)(&c.BoundBy) }, names: []string{"requests", "tokens"}},
	}
}
