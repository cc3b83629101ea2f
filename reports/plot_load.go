package reports

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/seed-2cee110a/triage/traces"
)

// LoadSeries is what every replica did in windows of time.
type LoadSeries struct {
	Trace  string
	Window float64 // s
	Runs   []LoadRun
}

// LoadRun is one policy's: by replica, then window.
type LoadRun struct {
	Policy   string
	Replicas []string
	InFlight [][]float64 // requests dispatched and not finished, mean over the window
	Busy     [][]float64 // share of the window with any in flight
	Hit      [][]float64 // prompt tokens hit / prompt tokens of the completed requests dispatched in the window; NaN without
	HitAll   []float64   // the same over all replicas
}

// loadWindows is about how many windows a run is cut into.
const loadWindows = 60

// NewLoadSeries computes the numbers. All runs have the same windows.
func NewLoadSeries(g *Gallery) *LoadSeries {
	end := 0.0
	for i := range g.Runs {
		for _, q := range g.Runs[i].Requests {
			if known(q.Finished) {
				end = math.Max(end, q.Finished)
			}
		}
	}
	s := &LoadSeries{Trace: g.Trace, Window: 1}
	if end > 0 {
		s.Window = niceStep(end, loadWindows)
	}
	n := max(1, int(math.Ceil(end/s.Window-1e-9)))
	for i := range g.Runs {
		s.Runs = append(s.Runs, loadRun(&g.Runs[i], s.Window, n))
	}
	return s
}

func loadRun(p *Played, window float64, n int) LoadRun {
	r := LoadRun{Policy: p.Policy, Replicas: p.Replicas}
	work := make([][]span, len(p.Replicas))
	hits := make([]ratios, len(p.Replicas))
	all := newRatios(n)
	for i := range hits {
		hits[i] = newRatios(n)
	}
	for i := range p.Requests {
		q := &p.Requests[i]
		if q.Replica < 0 || !known(q.Dispatched, q.Finished) {
			continue
		}
		work[q.Replica] = append(work[q.Replica], span{q.Dispatched, q.Finished})
		if w := min(int(q.Dispatched/window), n-1); q.Completed && q.Hit != traces.Unknown {
			hits[q.Replica].add(w, q.Hit, q.Prompt)
			all.add(w, q.Hit, q.Prompt)
		}
	}
	for i := range p.Replicas {
		r.InFlight = append(r.InFlight, covered(work[i], window, n))
		r.Busy = append(r.Busy, covered(union(work[i]), window, n))
		r.Hit = append(r.Hit, hits[i].values())
	}
	r.HitAll = all.values()
	return r
}

// span is a time from one instant to a later one, seconds.
type span struct{ from, to float64 }

// union merges spans that overlap.
func union(spans []span) []span {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int {
		if a.from < b.from {
			return -1
		}
		return 1
	})
	var out []span
	for _, s := range spans {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = math.Max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// covered returns for each window the sum of the spans' times in it, in windows.
func covered(spans []span, window float64, n int) []float64 {
	out := make([]float64, n)
	for _, s := range spans {
		for w := max(0, int(s.from/window)); w < n && float64(w)*window < s.to; w++ {
			from, to := math.Max(s.from, float64(w)*window), math.Min(s.to, float64(w+1)*window)
			out[w] += math.Max(0, to-from) / window
		}
	}
	return out
}

// ratios are a ratio of two sums by window.
type ratios struct{ hit, of []float64 }

func newRatios(n int) ratios { return ratios{make([]float64, n), make([]float64, n)} }

func (r ratios) add(window int, hit, of int32) {
	r.hit[window] += float64(hit)
	r.of[window] += float64(of)
}

func (r ratios) values() []float64 {
	out := make([]float64, len(r.of))
	for i := range out {
		out[i] = r.hit[i] / r.of[i]
	}
	return out
}

// CSV writes a row a policy, replica and window.
func (s *LoadSeries) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"policy", "replica", "from_s", "to_s", "in_flight", "busy_share", "hit_ratio"}) // the writer keeps the first error
	for _, r := range s.Runs {
		for i, name := range r.Replicas {
			for k := range r.InFlight[i] {
				from := float64(float64(k) * s.Window)
				out.Write([]string{r.Policy, name, csvFloat(round9(from)), csvFloat(round9(from + s.Window)), csvFloat(round9(r.InFlight[i][k])),
					csvFloat(round9(r.Busy[i][k])), csvFloat(round9(r.Hit[i][k]))})
			}
		}
	}
	out.Flush()
	return out.Error()
}

// round9 keeps nine decimals, so that the rounding of sums does not show.
func round9(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 9, 64), 64)
	if err != nil {
		return v
	}
	return r
}
