package fidelity

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/seed-2cee110a/triage/engine"
)

// request is one request of an experiment and, if there is a trace, what was measured of it.
type request struct {
	stage  int
	at     engine.Time // arrival; since the start of its stage if it was drawn
	prompt int32
	output int32
	id     int     // prompt of those that are cycled, -1 if it is unique
	ttft   float64 // measured, ms; NaN if it failed or is not known
	e2e    float64 // likewise
}

// workload is all requests of an experiment.
type workload struct {
	requests []request
	traced   bool // else drawn
	stages   []Stage
}

func (e *Experiment) workload(dir string, seed uint64) (*workload, error) {
	if e.Trace == "" {
		return e.draw(seed), nil
	}
	return e.readTrace(filepath.Join(dir, filepath.FromSlash(e.Trace)))
}

// draw makes arrivals: given its count, a Poisson process is so many uniform instants.
func (e *Experiment) draw(seed uint64) *workload {
	chance := chanceFor(seed, e.ID)
	w := &workload{stages: e.Stages}
	for i, s := range e.Stages {
		at := make([]float64, s.Requests)
		for k := range at {
			at[k] = chance.Float64()
		}
		slices.Sort(at)
		for k, x := range at {
			r := request{stage: i, at: seconds(float64(x * s.Seconds)), prompt: int32(e.Prompt), output: int32(e.Output), id: -1,
				ttft: math.NaN(), e2e: math.NaN()}
			if e.Prompts > 0 {
				r.id = k % e.Prompts
			}
			w.requests = append(w.requests, r)
		}
	}
	return w
}

// chanceFor is a stream of chance for each experiment.
func chanceFor(seed uint64, id string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(id))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

func seconds(s float64) engine.Time { return engine.Time(math.Round(s*1e6)) * engine.Microsecond }

var traceColumns = []string{"stage", "arrival_us", "input_tokens", "output_tokens", "prompt_id", "ttft_ms", "e2e_ms"}

// lastArrival is the latest arrival in a trace, s.
const lastArrival = 1e6

// readTrace reads requests in order of arrival. A prompt that is cycled has the length of its first appearance.
func (e *Experiment) readTrace(file string) (*workload, error) {
	w := &workload{traced: true, stages: e.Stages}
	length := map[int]int32{}
	err := eachRow(file, traceColumns, func(r *row) error {
		q := r.request()
		if q.stage >= len(e.Stages) {
			r.bad("stage", fmt.Sprintf("a stage of experiments.csv, below %d", len(e.Stages)))
		}
		if n := len(w.requests); n > 0 && q.at < w.requests[n-1].at {
			r.bad("arrival_us", "no arrival before the one above")
		}
		if q.id >= 0 && length[q.id] == 0 {
			length[q.id] = q.prompt
		}
		w.requests = append(w.requests, q)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range w.requests {
		q := &w.requests[i]
		if q.id >= 0 {
			q.prompt = length[q.id]
		}
		if q.prompt == 0 {
			return nil, fmt.Errorf("%s: request %d has no input_tokens", filepath.Base(file), i+1)
		}
	}
	if len(w.requests) == 0 {
		return nil, fmt.Errorf("%s: no requests", filepath.Base(file))
	}
	return w, nil
}

func (r *row) request() request {
	q := request{stage: r.whole("stage", 0), prompt: int32(r.whole("input_tokens", 0)), output: int32(r.whole("output_tokens", 0)), id: -1,
		ttft: r.numberOr("ttft_ms", math.NaN()), e2e: r.numberOr("e2e_ms", math.NaN())}
	if r.text("prompt_id") != "-1" {
		q.id = r.whole("prompt_id", 0)
	}
	us := r.number("arrival_us")
	if us > lastArrival*1e6 {
		r.bad("arrival_us", "at most 1e12")
		us = 0
	}
	q.at = engine.Time(math.Round(us)) * engine.Microsecond
	if math.IsNaN(q.ttft) != math.IsNaN(q.e2e) {
		r.bad("e2e_ms", "a number where ttft_ms has one")
	}
	q.output = max(1, q.output)
	return q
}

// forest has a root for each prompt that is cycled; node returns a request's.
func (w *workload) forest() (f *engine.Forest, node map[int]int32) {
	f, node = &engine.Forest{}, map[int]int32{-1: -1}
	for _, q := range w.requests {
		if q.id < 0 {
			continue
		}
		n, ok := node[q.id]
		if !ok {
			n = int32(len(f.Parent))
			node[q.id] = n
			f.Parent, f.End, f.Walks = append(f.Parent, -1), append(f.End, q.prompt), append(f.Walks, 0)
		}
		f.Walks[n]++
	}
	return f, node
}
