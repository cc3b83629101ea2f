package sim

// CostFile is a cost model that a file describes instead of the registry. Exactly the part that Kind names is there.
type CostFile struct {
	Kind        string       `yaml:"kind"`                  // "linear", "physical" or "table"
	For         *CostFor     `yaml:"for,omitempty"`         // replicas that it was measured on; nil: it does not say
	Linear      *LinearCost  `yaml:"linear,omitempty"`      //
	Physical    *FactorCost  `yaml:"physical,omitempty"`    //
	Steps       []StepCost   `yaml:"steps,omitempty"`       // of a table
	Overhead    *Overhead    `yaml:"overhead,omitempty"`    // nil: the engine settings'
	Calibration *Calibration `yaml:"calibration,omitempty"` // nil: written by hand

	File   string `yaml:"-"` // as given
	Digest string `yaml:"-"` // of its bytes
}

// CostFor names replicas.
type CostFor struct {
	Model string `yaml:"model"`
	GPU   string `yaml:"gpu"`
	TP    int    `yaml:"tp"`
}

// LinearCost is an engine.Linear in units that read well.
type LinearCost struct {
	PerStep    float64 `yaml:"per_step_us"`
	PerToken   float64 `yaml:"per_prefill_token_us"`
	PerContext float64 `yaml:"per_context_token_ns"` // of every prefill token, for every token of its context
	PerDecode  float64 `yaml:"per_decode_us"`        // every decoding sequence
	PerKV      float64 `yaml:"per_kv_token_ns"`      // every KV token that a decoding sequence reads
}

// FactorCost is engine.Factors of the registry's cost model.
type FactorCost struct {
	Step    float64 `yaml:"step"`
	Batch   float64 `yaml:"batch"`
	KV      float64 `yaml:"kv"`
	Prefill float64 `yaml:"prefill"`
}

// StepCost is a measured step.
type StepCost struct {
	PrefillTokens int     `yaml:"prefill_tokens"`
	DecodeSeqs    int     `yaml:"decode_seqs"`
	KVTokens      int64   `yaml:"kv_tokens"`
	Seconds       float64 `yaml:"seconds"`
}

// Overhead is a server's own time for a request.
type Overhead struct {
	Before float64 `yaml:"before_ms"` // to the waiting queue
	After  float64 `yaml:"after_ms"`  // from the end of a step to delivery
}

// Calibration is where a cost file comes from.
type Calibration struct {
	Tool      string     `yaml:"tool"`
	Source    string     `yaml:"source"`           // name of the log
	SHA256    string     `yaml:"sha256"`           // of the log
	What      string     `yaml:"what"`             // "requests" or "steps"
	N         int        `yaml:"in_log"`           // of them in the log
	Fitted    int        `yaml:"fitted"`           // of them the fit used
	Held      int        `yaml:"held_out"`         // of them kept for the error
	Errors    []HeldOut  `yaml:"held_out_errors"`  //
	Level     float64    `yaml:"level"`            // of the intervals, 0..1
	Intervals []Interval `yaml:"intervals"`        // of the fitted coefficients
	How       string     `yaml:"intervals_from"`   //
	Kept      []string   `yaml:"kept,omitempty"`   // coefficients that were not fitted
	Fitting   string     `yaml:"fitting"`          // what was minimised
	Replay    string     `yaml:"replay,omitempty"` // flags of the replica that the log was played on
}

// HeldOut is the error of a prediction on the part of a log that was not fitted, as shares of what was measured.
type HeldOut struct {
	Metric    string  `yaml:"metric"`
	Mean      float64 `yaml:"mean_abs"`   // mean absolute error of the single ones
	Median    float64 `yaml:"median_abs"` //
	MeanError float64 `yaml:"of_mean"`    // signed error of their mean
}

// Interval holds a coefficient at the level of the calibration.
type Interval struct {
	Name string  `yaml:"name"`
	Low  float64 `yaml:"low"`
	High float64 `yaml:"high"`
}

// CostKinds are the kinds of cost files.
var CostKinds = []string{"linear", "physical", "table"}
