package policies

import (
	"fmt"
	"time"
)

// ScoreConfig sets up a Score.
type ScoreConfig struct {
	Weights  Weights
	Norm     Norm    // what the queue term counts
	QueueCap float64 // NormAbsolute: waiting requests that count as 1
	Sent     bool    // add what was sent since the sample to the requests waiting and the load; false shows what that is worth
	Others   Others  // NormWork and NormTime: whether to add the work that other routers sent
	Rate     float64 // NormTime: uncached tokens a second that a replica prefills; 0: learnt, see Local.PrefillRate
	BeliefConfig
	Slots    Slots         // what to do with replicas whose adapter slots others take
	Fit      Fit           // what to do with replicas that lack KV room
	Margin   float64       // share of the KV capacity to leave free, 0..1
	Output   Output        // the output to expect of a request that does not tell
	Stale    time.Duration // signals older than this are stale; 0 never
	StaleAs  StaleAs       // how to read stale or missing signals
	HalfLife time.Duration // in which a measured TTFT, TPOT or prefill rate loses half its weight; 0 never
}

// Norm names a way to normalise the queue term.
type Norm string

const (
	NormWork     Norm = "work"     // uncached prompt tokens ahead / own prompt tokens, from the router's book
	NormAbsolute Norm = "absolute" // requests waiting / cap, at most 1, from the engine's signals
	NormMinMax   Norm = "minmax"   // requests waiting from the fewest (0) to the most (1) among the candidates
	NormMean     Norm = "mean"     // requests waiting above the candidates' mean / max(1, mean)
	NormTime     Norm = "time"     // seconds until the first token: uncached tokens ahead and own / prefill rate
)

// Others says whether the work of other routers counts, which is in no book of this one.
type Others string

const (
	OthersAuto Others = "auto" // if the view says that there are several routers
	OthersOn   Others = "on"
	OthersOff  Others = "off"
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
	FitHold  Fit = "hold"  // wait at the gateway if the best replica lacks it; drop only those that could never hold the request
	FitOff   Fit = "off"   // keep them, with the kv term as the price
)

// Output names an estimate of the output of a request that has neither an expected output nor a limit.
type Output string

const (
	OutputP75 Output = "p75" // the running 75th percentile of its tenant's, 0 until there is one
	OutputOff Output = "off" // 0
)

// StaleAs names a way to read stale or missing signals.
type StaleAs string

const (
	StaleUnknown StaleAs = "unknown" // use the router's own book only
	StaleLast    StaleAs = "last"    // as they are
	StaleFull    StaleAs = "full"    // the replica takes nothing
)

// maxWeight bounds each weight, so that no score is infinite.
const maxWeight = 1e9

// DefaultScore returns the weights of the guide that the scorer follows, on the work ahead, with the router's own
// prefix index and a KV filter.
func DefaultScore() ScoreConfig {
	return ScoreConfig{
		Weights:      Weights{Affinity: 10, Queue: 3, KVPressure: 100, AdapterMiss: 5, Load: 0.02},
		Norm:         NormWork,
		QueueCap:     64,
		Sent:         true,
		Others:       OthersAuto,
		BeliefConfig: defaultBelief(),
		Slots:        SlotsSpill,
		Fit:          FitSpill,
		Margin:       0.05,
		Output:       OutputP75,
		StaleAs:      StaleUnknown,
		HalfLife:     30 * time.Second,
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
	rows = append(rows, queueKnobs()...)
	rows = append(rows, beliefKnobs()...)
	return append(rows, filterKnobs()...)
}

func queueKnobs() []field[ScoreConfig] {
	return []field[ScoreConfig]{
		{name: "norm", doc: "queue: work = uncached tokens ahead / own prompt; time = seconds until the first token; of the requests waiting, " +
			"absolute = / cap; minmax = 0 for the fewest, 1 for the most; mean = (x - mean) / max(1, mean)",
			at: func(c *ScoreConfig) any { return (*string)(&c.Norm) }, names: []string{"work", "absolute", "minmax", "mean", "time"}},
		{name: "cap", doc: "waiting requests that count as 1 with norm=absolute",
			at: func(c *ScoreConfig) any { return &c.QueueCap }, min: 1, max: 1e9},
		{name: "sent", doc: "count what was sent since the sample, in load and requests waiting; off shows what that is worth",
			at: func(c *ScoreConfig) any { return &c.Sent }},
		{name: "others", doc: "add what other routers sent, with norm=work and time: requests waiting that are not own x mean uncached tokens; " +
			"auto = with several routers",
			at: func(c *ScoreConfig) any { return (*string)(&c.Others) }, names: []string{"auto", "on", "off"}},
		{name: "rate", doc: "uncached tokens a second that a replica prefills, with norm=time; 0 = learnt, and no queue counts until there is a first token",
			at: func(c *ScoreConfig) any { return &c.Rate }, max: 1e9},
		{name: "halflife", doc: "time in which a measured TTFT, TPOT or rate loses half its weight, so that a slow replica is tried again; 0s = never",
			at: func(c *ScoreConfig) any { return &c.HalfLife }},
	}
}

func filterKnobs() []field[ScoreConfig] {
	return []field[ScoreConfig]{
		{name: "slots", doc: "replicas whose adapter slots others take: spill = drop them; off = keep them, at the price lora",
			at: func(c *ScoreConfig) any { return (*string)(&c.Slots) }, names: []string{"spill", "off"}},
		{name: "fit", doc: "replicas without KV room: spill = drop them; hold = wait at the gateway if the best has none; off = keep them, at the price kv",
			at: func(c *ScoreConfig) any { return (*string)(&c.Fit) }, names: []string{"spill", "hold", "off"}},
		{name: "margin", doc: "share of the KV capacity to leave free",
			at: func(c *ScoreConfig) any { return &c.Margin }, max: 1},
		{name: "output", doc: "tokens to expect of a request without max_tokens: p75 = the tenant's running 75th percentile; off = 0",
			at: func(c *ScoreConfig) any { return (*string)(&c.Output) }, names: []string{"p75", "off"}},
		{name: "stale", doc: "age at which signals are stale; 0s = never",
			at: func(c *ScoreConfig) any { return &c.Stale }},
		{name: "stale_as", doc: "stale or missing signals: unknown = own book only; last = as they are; full = send nothing",
			at: func(c *ScoreConfig) any { return (*string)(&c.StaleAs) }, names: []string{"unknown", "last", "full"}},
	}
}
