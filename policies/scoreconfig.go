package policies

import (
	"fmt"
	"math"
	"time"
)

// ScoreConfig sets up a Score.
type ScoreConfig struct {
	Weights      Weights
	Norm         Norm          // what the queue term counts
	QueueCap     float64       // NormAbsolute: waiting requests that count as 1
	Sent         bool          // add what was sent since the sample to NormAbsolute and the load; false shows what that is worth
	Prefix       Prefix        // where the belief about cached prefixes comes from
	PrefixTokens int           // most prefix tokens that count, floored to a block; PrefixBucket hashes as many. 0: all, or 1024 for PrefixBucket
	Owners       int           // PrefixBucket: warm replicas a prefix has
	TTL          time.Duration // PrefixIndex: forget what was not used for so long; 0 never
	Slots        Slots         // what to do with replicas whose adapter slots others take
	Fit          Fit           // what to do with replicas that lack KV room
	Margin       float64       // share of the KV capacity to leave free, 0..1
	Stale        time.Duration // signals older than this are stale; 0 never
	StaleAs      StaleAs       // how to read stale or missing signals
}

// Norm names a way to normalise the queue term.
type Norm string

const (
	NormWork     Norm = "work"     // uncached prompt tokens ahead / own prompt tokens, from the router's book
	NormAbsolute Norm = "absolute" // waiting requests / cap, from the engine's signals
)

// Prefix names a source of the belief about cached prefixes.
type Prefix string

const (
	PrefixFromIndex Prefix = "index"  // the router's record of what it sent where
	PrefixBucket    Prefix = "bucket" // a hash of the first tokens names a few owners
	PrefixOracle    Prefix = "oracle" // the truth, in a simulator
)

// Slots names a way to treat replicas whose adapter slots are all taken by other adapters in use.
type Slots string

const (
	SlotsSpill Slots = "spill" // drop them, so that the request goes elsewhere or is held
	SlotsOff   Slots = "off"   // keep them, with the lora term as the price: the request waits there
)

// Fit names a way to treat replicas without KV room for the request.
type Fit string

const (
	FitSpill Fit = "spill" // drop them, so that the request goes elsewhere
	FitOff   Fit = "off"   // keep them, with the kv term as the price
)

// StaleAs names a way to read stale or missing signals.
type StaleAs string

const (
	StaleUnknown StaleAs = "unknown" // use the router's own book only
	StaleLast    StaleAs = "last"    // as they are
	StaleFull    StaleAs = "full"    // the replica takes nothing
)

// bucketTokens is PrefixTokens of a PrefixBucket that was not told.
const bucketTokens = 1024

// maxWeight bounds each weight, so that no score is infinite.
const maxWeight = 1e9

// maxOwners bounds Owners.
const maxOwners = 64

// DefaultScore returns the weights of the guide that the scorer follows, on the work ahead, with the router's own
// prefix index and a KV filter.
func DefaultScore() ScoreConfig {
	return ScoreConfig{
		Weights:  Weights{Affinity: 10, Queue: 3, KVPressure: 100, AdapterMiss: 5, Load: 0.02},
		Norm:     NormWork,
		QueueCap: 64,
		Sent:     true,
		Prefix:   PrefixFromIndex,
		Owners:   2,
		Slots:    SlotsSpill,
		Fit:      FitSpill,
		Margin:   0.05,
		StaleAs:  StaleUnknown,
	}
}

// Check returns an error that names the first setting out of its range.
func (c ScoreConfig) Check() error {
	for _, f := range scoreKnobs() {
		at := c // set parses into a copy
		if err := f.set(&at, show(f.at(&c))); err != nil {
			return fmt.Errorf("score: %w", err)
		}
	}
	return nil
}

// scoreKnobs has one row a knob, the weights first.
func scoreKnobs() []field[ScoreConfig] {
	var rows []field[ScoreConfig]
	for t := range NumTerms {
		rows = append(rows, field[ScoreConfig]{name: terms[t].name, doc: terms[t].doc,
			at: func(c *ScoreConfig) any { return c.Weights.Of(t) }, max: maxWeight})
	}
	return append(rows, []field[ScoreConfig]{
		{name: "norm", doc: "queue: work = uncached tokens ahead / own prompt; absolute = requests waiting / cap",
			at: func(c *ScoreConfig) any { return (*string)(&c.Norm) }, names: []string{"work", "absolute"}},
		{name: "cap", doc: "waiting requests that count as 1 with norm=absolute",
			at: func(c *ScoreConfig) any { return &c.QueueCap }, min: 1, max: 1e9},
		{name: "sent", doc: "count what was sent since the sample, in load and with norm=absolute; off shows what that is worth",
			at: func(c *ScoreConfig) any { return &c.Sent }},
		{name: "prefix", doc: "belief: index = what was sent where; bucket = a hash names owners; oracle = the truth, in replay only",
			at: func(c *ScoreConfig) any { return (*string)(&c.Prefix) }, names: []string{"index", "bucket", "oracle"}},
		{name: "n", doc: "most prefix tokens that count, floored to a block; 0 = all (bucket: 1024)",
			at: func(c *ScoreConfig) any { return &c.PrefixTokens }, max: math.MaxInt32},
		{name: "k", doc: "owners of a prefix with prefix=bucket",
			at: func(c *ScoreConfig) any { return &c.Owners }, min: 1, max: maxOwners},
		{name: "ttl", doc: "forget a prefix not used for so long, with prefix=index; 0s = never",
			at: func(c *ScoreConfig) any { return &c.TTL }},
		{name: "slots", doc: "replicas whose adapter slots others take: spill = drop them; off = keep them, at the price lora",
			at: func(c *ScoreConfig) any { return (*string)(&c.Slots) }, names: []string{"spill", "off"}},
		{name: "fit", doc: "replicas without KV room: spill = drop them; off = keep them, at the price kv",
			at: func(c *ScoreConfig) any { return (*string)(&c.Fit) }, names: []string{"spill", "off"}},
		{name: "margin", doc: "share of the KV capacity to leave free",
			at: func(c *ScoreConfig) any { return &c.Margin }, max: 1},
		{name: "stale", doc: "age at which signals are stale; 0s = never",
			at: func(c *ScoreConfig) any { return &c.Stale }},
		{name: "stale_as", doc: "stale or missing signals: unknown = own book only; last = as they are; full = send nothing",
			at: func(c *ScoreConfig) any { return (*string)(&c.StaleAs) }, names: []string{"unknown", "last", "full"}},
	}...)
}
