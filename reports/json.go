package reports

import (
	"encoding/json"
	"io"

	"github.com/seed-2cee110a/triage/sim"
)

// SchemaName names the layout of the JSON report. A field may be added under the same name; one that changes its
// meaning or goes away needs a new name.
const SchemaName = "triage/replay/v1"

// JSON writes the comparison as one document: fields in a fixed order, floats in their shortest form, null for what
// is not known.
func JSON(w io.Writer, c *Comparison) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(document(c))
}

// number is a float that is null when it is not finite.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if !known(float64(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

type replayJSON struct {
	Schema   string        `json:"schema"`
	Trace    traceJSON     `json:"trace"`
	Cluster  clusterJSON   `json:"cluster"`
	Signals  signalsJSON   `json:"signals"`
	Cost     costJSON      `json:"cost"`
	Trust    *trustJSON    `json:"trust,omitempty"`
	Runs     []runJSON     `json:"runs"`
	Findings []findingJSON `json:"findings"`
	Gates    []gateJSON    `json:"gates,omitempty"`
}

type traceJSON struct {
	Name         string `json:"name"`
	Requests     int    `json:"requests"`
	SpanS        number `json:"span_s"`
	Digest       string `json:"digest"`
	Tied         int    `json:"tied"`
	Unidentified int    `json:"unidentified"`
	Reused       int    `json:"reused_answers,omitempty"`
}

type clusterJSON struct {
	Replicas int         `json:"replicas"`
	Model    string      `json:"model"`
	Shape    *shapeJSON  `json:"model_config,omitempty"` // of a model that is not the registry's
	GPU      string      `json:"gpu"`
	TP       int         `json:"tp"`
	KVTokens int64       `json:"kv_tokens"`
	Engine   engineJSON  `json:"engine"`
	Gateway  gatewayJSON `json:"gateway"`
	Routers  string      `json:"routers"` // as sim.ParseRouters reads it
	Signals  string      `json:"signals"` // as sim.ParseSignals reads it
	Speed    number      `json:"speed"`
	Ties     string      `json:"ties"`
	Seed     uint64      `json:"seed"`
	Scale    number      `json:"cost_scale,omitempty"` // 0 is 1
	Pools    []poolJSON  `json:"pools,omitempty"`      // what stands above is of the first, but for the replicas
	Default  string      `json:"default_model,omitempty"`
	Needs    []needJSON  `json:"needs,omitempty"`
	Adapters string      `json:"adapter_signal,omitempty"` // where the trace names adapters
	sessionsJSON
	faultsJSON
}

type poolJSON struct {
	Name     string     `json:"name"`
	Replicas int        `json:"replicas"`
	Model    string     `json:"model"`
	Shape    *shapeJSON `json:"model_config,omitempty"`
	GPU      string     `json:"gpu"`
	TP       int        `json:"tp"`
	KVTokens int64      `json:"kv_tokens"`
	Engine   engineJSON `json:"engine"`
	Scale    number     `json:"cost_scale,omitempty"` // 0 is 1
	Cost     costJSON   `json:"cost"`
	Serves   []string   `json:"serves"`
	Caps     []string   `json:"caps,omitempty"`
}

type needJSON struct {
	Model     string   `json:"model,omitempty"`
	Tenant    string   `json:"tenant,omitempty"`
	SLO       string   `json:"slo,omitempty"`
	MinPrompt int      `json:"prompt_tokens_at_least,omitempty"`
	Caps      []string `json:"caps"`
}

type engineJSON struct {
	BlockSize                 int    `json:"block_size"`
	KVBlocks                  int    `json:"kv_blocks"`
	MaxNumSeqs                int    `json:"max_num_seqs"`
	MaxNumBatchedTokens       int    `json:"max_num_batched_tokens"`
	LongPrefillTokenThreshold int    `json:"long_prefill_token_threshold"`
	MaxModelLen               int    `json:"max_model_len"`
	ReserveFullISL            bool   `json:"scheduler_reserve_full_isl"`
	EnablePrefixCaching       bool   `json:"enable_prefix_caching"`
	AsyncScheduling           bool   `json:"async_scheduling"`
	Watermark                 number `json:"watermark"`
	OverheadBeforeS           number `json:"overhead_before_s"`
	OverheadAfterS            number `json:"overhead_after_s"`
	adaptersJSON
}

type signalsJSON struct {
	Mode string  `json:"mode"`
	Age  ageJSON `json:"age_s"`
}

type ageJSON struct {
	Mean number `json:"mean"`
	P50  number `json:"p50"`
	P95  number `json:"p95"`
	Max  number `json:"max"`
}

type costJSON struct {
	Model      string `json:"model"`
	Calibrated bool   `json:"calibrated"`
	Note       string `json:"note"`

	Digest      string   `json:"digest,omitempty"` // of the cost file
	Calibration *logJSON `json:"calibration,omitempty"`
}

// logJSON is the log that a cost file was fitted to, and the errors on the part that was held out.
type logJSON struct {
	Source  string        `json:"source"`
	SHA256  string        `json:"sha256"`
	HeldOut []heldOutJSON `json:"held_out"`
}

type heldOutJSON struct {
	Metric    string `json:"metric"`
	Mean      number `json:"mean_abs"`
	Median    number `json:"median_abs"`
	MeanError number `json:"of_mean"`
}

func costOf(n sim.CostNote) costJSON {
	c := costJSON{Model: n.Model, Calibrated: n.Calibrated, Note: n.Note, Digest: n.Digest}
	if n.Source != "" {
		c.Calibration = &logJSON{n.Source, n.SHA256, heldOutOf(n.HeldOut)}
	}
	return c
}

func heldOutOf(all []sim.HeldOut) []heldOutJSON {
	out := []heldOutJSON{}
	for _, e := range all {
		out = append(out, heldOutJSON{e.Metric, number(e.Mean), number(e.Median), number(e.MeanError)})
	}
	return out
}

type runJSON struct {
	Policy      string        `json:"policy"`
	Completed   int           `json:"completed"`
	Rejected    rejectedJSON  `json:"rejected"`
	TTFT        quantilesJSON `json:"ttft_s"`
	TPOT        quantilesJSON `json:"tpot_s"`
	E2E         quantilesJSON `json:"e2e_s"`
	HitRatio    number        `json:"hit_ratio"`
	Believed    *number       `json:"believed_hit_ratio,omitempty"`
	Belief      *beliefJSON   `json:"belief,omitempty"`
	Imbalance   number        `json:"imbalance"`
	Preemptions int64         `json:"preemptions"`
	Recomputed  number        `json:"recomputed_per_output_token,omitempty"`
	OutputPerS  number        `json:"output_tokens_per_s"`
	PerS        number        `json:"requests_per_s"`
	Makespan    number        `json:"makespan_s"`
	SignalAge   ageJSON       `json:"signal_age_s"`
	Affinity    []bucketJSON  `json:"affinity"`
	Gateway     heldJSON      `json:"gateway"`
	Tenants     []tenantJSON  `json:"tenants,omitempty"`
	Replicas    []replicaJSON `json:"replicas"`
	Retries     int           `json:"retries,omitempty"`
	Crashes     []crashJSON   `json:"crashes,omitempty"`
	Loads       *int64        `json:"adapter_loads,omitempty"`
	LoadsPer    *number       `json:"adapter_loads_per_1000,omitempty"`
	Perfect     *perfectJSON  `json:"perfect_signals,omitempty"`
	Warnings    []string      `json:"warnings"`
}

type rejectedJSON struct {
	Total    int            `json:"total"`
	ByReason map[string]int `json:"by_reason"` // encoding/json sorts the keys
}

type quantilesJSON struct {
	Mean number `json:"mean"`
	P50  number `json:"p50"`
	P90  number `json:"p90"`
	P95  number `json:"p95"`
	P99  number `json:"p99"`
	Max  number `json:"max"`
}

type bucketJSON struct {
	Bucket string        `json:"bucket"`
	N      int           `json:"n"`
	Share  number        `json:"share"`
	TTFT   quantilesJSON `json:"ttft_s"`
}

type heldJSON struct {
	Held  int            `json:"held"`
	Wait  quantilesJSON  `json:"wait_s"`
	Retry *quantilesJSON `json:"retry_after_s,omitempty"` // nil: nobody was told to come again
}

type replicaJSON struct {
	Name      string `json:"name"`
	Pool      string `json:"pool,omitempty"`
	Requests  int    `json:"requests"`
	BusyRatio number `json:"busy_ratio"`
	HitRatio  number `json:"hit_ratio"`
	Loads     *int64 `json:"adapter_loads,omitempty"`
}

type findingJSON struct {
	ID       string        `json:"id"`
	Text     string        `json:"text"`
	Policy   string        `json:"policy,omitempty"`
	Evidence *evidenceJSON `json:"evidence,omitempty"`
}

type evidenceJSON struct {
	Window   []number          `json:"window_s,omitempty"` // from, to
	Replicas []string          `json:"replicas,omitempty"`
	Tenants  []string          `json:"tenants,omitempty"`
	Numbers  map[string]number `json:"numbers"` // encoding/json sorts the keys
}

type gateJSON struct {
	Expr    string  `json:"expr"`
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail"`
}

func quantiles(q sim.Quantiles) quantilesJSON {
	return quantilesJSON{number(q.Mean), number(q.P50), number(q.P90), number(q.P95), number(q.P99), number(q.Max)}
}
