package policies

// Weights are the factors of the score's terms, each 0..1e9. Only their ratios decide a pick.
type Weights struct {
	Affinity    float64
	Queue       float64
	KVPressure  float64
	AdapterMiss float64
	Load        float64
	Tokens      float64
	TTFT        float64
	TPOT        float64
}

// term is a summand of the score: sign * weight * value.
type term struct {
	name   string // of the knob, and in outputs
	doc    string
	sign   float64
	weight func(*Weights) *float64
	value  func(*pick, []candidate, []float64) // fills in a value a candidate
}

// terms has one row a term. Parsing, printing and scoring come from it.
var terms = [NumTerms]term{
	Affinity: {"aff", "weight of the share of the prompt believed cached, 0..1", +1,
		func(w *Weights) *float64 { return &w.Affinity }, affinity},
	Queue: {"q", "weight of the work queued ahead, see norm", -1,
		func(w *Weights) *float64 { return &w.Queue }, queue},
	KVPressure: {"kv", "weight of 1 for a replica without KV room; matters with fit=off", -1,
		func(w *Weights) *float64 { return &w.KVPressure }, kvPressure},
	AdapterMiss: {"lora", "weight of 1 for a replica that neither has the adapter nor was just sent it", -1,
		func(w *Weights) *float64 { return &w.AdapterMiss }, adapterMiss},
	LoadTerm: {"load", "weight of the requests in flight", -1,
		func(w *Weights) *float64 { return &w.Load }, load},
	Tokens: {"tokens", "weight of tokens in flight / KV capacity", -1,
		func(w *Weights) *float64 { return &w.Tokens }, tokens},
	TTFT: {"ttft", "weight of the replica's TTFT against the candidates' mean, -1..1", -1,
		func(w *Weights) *float64 { return &w.TTFT }, ttft},
	TPOT: {"tpot", "weight of the replica's TPOT against the candidates' mean, -1..1", -1,
		func(w *Weights) *float64 { return &w.TPOT }, tpot},
}

// String is the name of the term's knob.
func (t Term) String() string { return terms[t].name }

// Of returns the weight of a term.
func (w *Weights) Of(t Term) *float64 { return terms[t].weight(w) }
