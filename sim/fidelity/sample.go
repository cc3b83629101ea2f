package fidelity

import (
	"math"
	"slices"
	"strconv"

	"github.com/seed-2cee110a/triage/engine"
)

// Timeout is when a client under overload gives a request up, s.
const Timeout = 300

// sample is a set of requests that were served in time, in order of arrival; times in ms.
type sample struct {
	sent            []float64
	ttft, tpot, e2e []float64
	timeout         float64
	first           float64 // instant of the first request, served or not
	span, busy      float64 // from then to the last end or timeout, and to the last end
	offered         int
}

// simulated returns the requests of the simulation for which in holds.
func simulated(w *workload, out []timing, timeout float64, in func(i int) bool) *sample {
	s := &sample{timeout: timeout}
	for i, q := range w.requests {
		if in(i) && out[i].finish >= 0 {
			t := out[i]
			s.add(ms(t.sent), ms(t.first-t.sent), ms(t.finish-t.sent), q.output)
		}
	}
	return s
}

// measured returns those of the trace.
func measured(w *workload, timeout float64, in func(i int) bool) *sample {
	s := &sample{timeout: timeout}
	for i, q := range w.requests {
		if in(i) {
			s.add(ms(q.at), q.ttft, q.e2e, q.output)
		}
	}
	return s
}

func ms(t engine.Time) float64 { return float64(t) / float64(engine.Millisecond) }

// add takes a request; those that failed, with NaN, and those beyond the timeout only count as offered.
func (s *sample) add(sent, ttft, e2e float64, output int32) {
	if s.offered == 0 {
		s.first = sent
	}
	s.offered++
	if !(e2e <= s.timeout) {
		s.span = max(s.span, sent+s.timeout-s.first)
		return
	}
	s.busy = max(s.busy, sent+e2e-s.first)
	s.span = max(s.span, s.busy)
	s.sent, s.ttft, s.e2e = append(s.sent, sent), append(s.ttft, ttft), append(s.e2e, e2e)
	if output > 1 {
		s.tpot = append(s.tpot, (e2e-ttft)/float64(output-1))
	}
}

// value returns a statistic, NaN if it is not known. itl_published is what others predicted a TPOT for.
func (s *sample) value(metric, stat string) float64 {
	switch metric {
	case "ttft":
		return statistic(s.ttft, stat)
	case "tpot", "itl_published":
		return statistic(s.tpot, stat)
	case "e2e":
		return statistic(s.e2e, stat)
	case "request_throughput":
		return float64(len(s.e2e)) / (s.span / 1000)
	case "busy_throughput":
		return float64(len(s.e2e)) / (s.busy / 1000)
	case "ttft_growth":
		return s.growth()
	case "tpot_drift":
		return s.drift()
	}
	return math.NaN()
}

// growth is by how much the TTFT grows from one request to another a second later: the slope of the least-squares line,
// ms/s.
func (s *sample) growth() float64 {
	n := float64(len(s.sent))
	x, y := average(s.sent), average(s.ttft)
	var xy, xx float64
	for i := range s.sent {
		dx := (s.sent[i] - x) / 1000
		xy += float64(dx * (s.ttft[i] - y))
		xx += float64(dx * dx)
	}
	if n < 2 {
		return math.NaN()
	}
	return xy / xx
}

// drift is the mean TPOT of the last quarter of requests, by arrival, over that of the first: 1 for a server whose batch is
// full throughout and whose steps stay as long as they were.
func (s *sample) drift() float64 {
	n := len(s.tpot) / 4
	if n == 0 {
		return math.NaN()
	}
	return average(s.tpot[len(s.tpot)-n:]) / average(s.tpot[:n])
}

// statistic returns a mean, or a quantile between the two nearest ranks.
func statistic(x []float64, stat string) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	if stat == "mean" {
		return average(x)
	}
	percent, err := strconv.Atoi(stat[1:])
	if err != nil {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(x))
	at := float64(percent) / 100 * float64(len(x)-1)
	i := int(at)
	if i+1 == len(x) {
		return sorted[i]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}

func average(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// subset returns which requests a statistic is about, nil if that is not known. first is the size of firstN_lss.
func (w *workload) subset(stage, name string, first int) func(i int) bool {
	number := make([]int, len(w.requests)) // within its stage
	size := make([]int, len(w.stages))
	for i, q := range w.requests {
		number[i] = size[q.stage]
		size[q.stage]++
	}
	in := func(i int) bool { return stage == "all" || stage == strconv.Itoa(w.requests[i].stage) }
	keep := func(f func(i int) bool) func(int) bool { return func(i int) bool { return in(i) && f(i) } }
	switch {
	case name == "all":
		return in
	case name == "first100_cold":
		return keep(func(i int) bool { return i < 100 })
	case name == "warm_after200":
		return keep(func(i int) bool { return i >= 200 })
	case name == "firstN_lss" && first > 0:
		return keep(func(i int) bool { return i < first })
	case name == warm:
		return keep(func(i int) bool { return 4*number[i] >= size[w.requests[i].stage] })
	}
	return nil
}

// warm is the subset without the first quarter of each stage.
const warm = "warm"
