package sim

// Summary is a run in numbers. Times in seconds, ratios from 0 to 1. Over no values every statistic is NaN.
type Summary struct {
	Policy          string
	Requests        int
	Completed       int
	Rejected        int
	RejectedBy      [NumReasons]int
	TTFT, TPOT, E2E Quantiles
	EngineWait      Quantiles
	HitRatio        float64 // prompt tokens served from the cache at first admission / prompt tokens, completed requests
	Believed        float64 // the same as the router believed it at dispatch; NaN without a belief
	Imbalance       float64 // max / mean of the replicas' busy time
	Preemptions     int64
	OutputPerS      float64 // output tokens per second of makespan
	RequestsPerS    float64
	Makespan        float64 // from the first arrival to the last delivery
	Affinity        []Bucket
	Held            int       // requests that waited at the gateway
	GatewayWait     Quantiles // of those
	Replicas        []ReplicaSummary
}

// Quantiles are nearest-rank quantiles of a sample, its mean and its size.
type Quantiles struct {
	N                             int
	Mean, P50, P90, P95, P99, Max float64
}

// Bucket is the TTFT of the requests with a share of their prompt truly hit.
type Bucket struct {
	Name  string // "cold", "(0,0.25]", "(0.25,0.75]", "(0.75,1)", "full"; one "unknown" bucket without identity
	N     int
	TTFT  Quantiles
	Share float64 // of the completed requests
}

// ReplicaSummary is one replica in numbers.
type ReplicaSummary struct {
	Name      string
	Requests  int
	BusyRatio float64 // busy time / makespan
	HitRatio  float64 // NaN if it served nothing
}
