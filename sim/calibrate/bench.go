package calibrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// bench is what vllm bench serve --save-result --save-detailed writes; other fields are ignored. A request that failed has an
// error.
type bench struct {
	InputLens      []int64         `json:"input_lens"`
	OutputLens     []int64         `json:"output_lens"`
	TTFTs          []float64       `json:"ttfts"`
	ITLs           [][]float64     `json:"itls"`
	StartTimes     []float64       `json:"start_times"`
	Errors         []string        `json:"errors"`
	RequestRate    json.RawMessage `json:"request_rate"`
	MaxConcurrency int             `json:"max_concurrency"`
}

// isBench says whether JSON is one object with the keys of a benchmark.
func isBench(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.Contains(text, []byte(`"ttfts"`)) && bytes.Contains(text, []byte(`"input_lens"`)) || bytes.Contains(first, []byte(`"mean_ttft_ms"`))
}

func (l *Log) readBench(text []byte) error {
	var b bench
	if err := json.Unmarshal(text, &b); err != nil {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	if err := b.check(); err != nil {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	closed := len(b.StartTimes) == 0
	for i := range b.InputLens {
		if i < len(b.Errors) && b.Errors[i] != "" || b.OutputLens[i] == 0 {
			l.failed++
			continue
		}
		e2e := b.TTFTs[i]
		for k, s := range b.ITLs[i] {
			if !(s >= 0 && s < most) {
				return fmt.Errorf("%s: itls[%d][%d] is %v, want a time of at least 0", l.Name, i, k, s)
			}
			e2e += s
		}
		q := Request{Line: int64(i + 1), Prompt: int32(b.InputLens[i]), Output: int32(b.OutputLens[i]), TTFT: b.TTFTs[i], E2E: e2e, gated: closed}
		at := 0.0
		if !closed {
			at = b.StartTimes[i]
		}
		l.arrivals = append(l.arrivals, at)
		l.Requests = append(l.Requests, q)
	}
	if closed {
		l.window = max(b.MaxConcurrency, 0)
		if l.window == 0 {
			l.window = len(b.InputLens)
		}
		l.note("requests were sent as fast as possible, %d in flight at most: played so", l.window)
	}
	return nil
}

func (b *bench) check() error {
	n := len(b.InputLens)
	switch {
	case len(b.OutputLens) == 0 || len(b.TTFTs) == 0 || len(b.ITLs) == 0 || n == 0:
		return errors.New("the benchmark has no arrays input_lens, output_lens, ttfts and itls of single requests; want --save-result --save-detailed")
	case len(b.OutputLens) != n || len(b.TTFTs) != n || len(b.ITLs) != n || len(b.StartTimes) > 0 && len(b.StartTimes) != n:
		return fmt.Errorf("input_lens, output_lens, ttfts, itls and start_times have %d, %d, %d, %d and %d entries, want as many each",
			n, len(b.OutputLens), len(b.TTFTs), len(b.ITLs), len(b.StartTimes))
	case len(b.StartTimes) == 0 && string(b.RequestRate) != `"inf"` && string(b.RequestRate) != "Infinity" && len(b.RequestRate) > 0 && string(b.RequestRate) != "null":
		return fmt.Errorf("the benchmark has no start_times, and its request_rate is %s: when requests were sent is not known; want start_times, or request_rate inf", b.RequestRate)
	}
	for i := range n {
		switch {
		case b.InputLens[i] < 1 || b.InputLens[i] > most:
			return fmt.Errorf("input_lens[%d] is %d, want at least 1", i, b.InputLens[i])
		case b.OutputLens[i] < 0 || b.OutputLens[i] > most:
			return fmt.Errorf("output_lens[%d] is %d, want at least 0", i, b.OutputLens[i])
		case !(b.TTFTs[i] >= 0 && b.TTFTs[i] < most):
			return fmt.Errorf("ttfts[%d] is %v, want a time of at least 0", i, b.TTFTs[i])
		case len(b.StartTimes) > 0 && math.IsNaN(b.StartTimes[i]):
			return fmt.Errorf("start_times[%d] is no time", i)
		}
	}
	return nil
}
