package traces

import (
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
)

// outcomeRow is a row of a Parquet file of outcomes: the columns of every outcome file, then those of the trace that
// are not among them. A trace reader makes the trace of it again.
type outcomeRow struct {
	Row          int64    `parquet:"row,delta"`
	Policy       string   `parquet:"policy,dict"`
	ArrivalS     float64  `parquet:"arrival_s"`
	Replica      string   `parquet:"replica,optional,dict"`
	Status       string   `parquet:"status,dict"`
	Reason       string   `parquet:"reason,optional,dict"`
	PromptTokens int32    `parquet:"prompt_tokens"`
	OutputTokens *int32   `parquet:"output_tokens,optional"`
	HitTokens    *int32   `parquet:"hit_tokens,optional"`
	Affinity     *float64 `parquet:"affinity,optional"`
	TTFT         *float64 `parquet:"ttft_s,optional"`
	E2E          *float64 `parquet:"e2e_s,optional"`
	GatewayWait  *float64 `parquet:"gateway_wait_s,optional"`
	EngineWait   *float64 `parquet:"engine_wait_s,optional"`
	Preemptions  *int32   `parquet:"preemptions,optional"`
	Score        *float64 `parquet:"score,optional"`
	RunnerUp     string   `parquet:"runner_up,optional,dict"`
	Margin       *float64 `parquet:"margin,optional"`
	Terms        string   `parquet:"terms,optional"`
	Retries      int32    `parquet:"retries"`
	RetryAfter   *float64 `parquet:"retry_after_s,optional"`
	keyColumns
	detailColumns
	SrcStatus string `parquet:"src_status,dict"` // the trace's own status
}

// parquetOutcomes writes outcomes as Parquet.
type parquetOutcomes struct {
	g         *groups[outcomeRow]
	blockSize int32
}

func newParquetOutcomes(w io.Writer, m Meta) outcomeSink {
	options := append(parquetOptions(m), parquet.KeyValueMetadata("content", "outcomes"))
	return &parquetOutcomes{g: newGroups[outcomeRow](w, options), blockSize: m.BlockSize}
}

func (p *parquetOutcomes) write(o *Outcome) error {
	row := outcomeRow{
		Row: o.Row, Policy: o.Policy, ArrivalS: o.arrivalS(), Replica: o.Replica, Status: o.Outcome, Reason: o.Reason,
		PromptTokens: o.PromptTokens, OutputTokens: known(o.OutputTokens), HitTokens: known(o.HitTokens),
		Affinity: finite(o.Affinity), TTFT: finite(o.TTFTs), E2E: finite(o.E2Es),
		GatewayWait: finite(o.GatewayWaitS), EngineWait: finite(o.EngineWaitS), Preemptions: known(o.Preemptions), Retries: o.Retries, RetryAfter: finite(o.RetryAfterS),
		Score: finite(o.Score), RunnerUp: o.RunnerUp, Margin: finite(o.Margin), Terms: o.Terms,
		SrcStatus: o.Record.Status.String(),
	}
	row.keyColumns.set(&o.Record)
	row.detailColumns.set(&o.Record, p.blockSize)
	return p.g.add(row, len(o.Blocks))
}

func (p *parquetOutcomes) close() error { return p.g.close() }

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
