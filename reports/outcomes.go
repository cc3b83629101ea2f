package reports

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/parquet-go/parquet-go"
)

// outcomeRow are the columns of outcomes.parquet that a pairing looks at.
type outcomeRow struct {
	Row      int64    `parquet:"row"`
	Policy   string   `parquet:"policy"`
	ArrivalS float64  `parquet:"arrival_s"`
	Status   string   `parquet:"status"`
	Prompt   int32    `parquet:"prompt_tokens"`
	Output   *int32   `parquet:"output_tokens,optional"`
	Hit      *int32   `parquet:"hit_tokens,optional"`
	TTFT     *float64 `parquet:"ttft_s,optional"`
	E2E      *float64 `parquet:"e2e_s,optional"`
}

// readOutcomes reads the rows of one policy, in the order of the trace.
func readOutcomes(name, policy string) (out []outcome, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, cause(err))
	}
	defer f.Close()
	defer func() { // the reader panics on some damaged files
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: damaged: %v", name, r)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, cause(err))
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := parquet.NewGenericReader[outcomeRow](file)
	defer r.Close()
	rows := make([]outcomeRow, 1024)
	for {
		n, err := r.Read(rows)
		for _, row := range rows[:n] {
			if row.Policy != policy {
				continue
			}
			if row.Row != int64(len(out)) {
				return nil, fmt.Errorf("%s: policy %q has row %d where %d is due", name, policy, row.Row, len(out))
			}
			out = append(out, row.outcome())
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
}

func (r *outcomeRow) outcome() outcome {
	o := outcome{arrival: r.ArrivalS, ttft: pointed(r.TTFT), e2e: pointed(r.E2E), tpot: math.NaN(), prompt: float64(r.Prompt),
		hit: math.NaN(), completed: r.Status == "completed"}
	if r.Hit != nil {
		o.hit = float64(*r.Hit)
	}
	if r.Output != nil && *r.Output > 1 {
		o.tpot = (o.e2e - o.ttft) / float64(*r.Output-1)
	}
	return o
}

func pointed(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
