package reports

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-2cee110a/triage/traces"
)

// TraceInfo describes a trace without replaying it.
type TraceInfo struct {
	Name        string      `json:"name"`
	Digest      string      `json:"digest"`
	Format      string      `json:"format"`
	Requests    int         `json:"requests"`
	SpanS       number      `json:"span_s"`
	Rate        RateInfo    `json:"requests_per_s"`
	Prompt      Spread      `json:"prompt_tokens"`
	Output      Spread      `json:"output_tokens"`
	Ties        TieInfo     `json:"ties"`
	Identity    Identity    `json:"identity"`
	Adapters    AdapterInfo `json:"adapters"`
	MemoryBytes int64       `json:"memory_bytes"`
	Warnings    []string    `json:"warnings"`
}

// RateInfo is the mean rate over the span, and the highest in windows from the first arrival on, of spans that reach
// over one.
type RateInfo struct {
	Mean   number `json:"mean"`
	Peak1  number `json:"peak_1s"`
	Peak60 number `json:"peak_60s"`
}

// Spread is how a token count is distributed; quantiles by nearest rank.
type Spread struct {
	Known int    `json:"known"` // requests that say it
	Total int64  `json:"total"`
	Mean  number `json:"mean"`
	P50   number `json:"p50"`
	P90   number `json:"p90"`
	P99   number `json:"p99"`
	Max   number `json:"max"`
}

// TieInfo counts equal arrivals.
type TieInfo struct {
	Requests int `json:"requests"` // that share their instant with another
	Largest  int `json:"largest"`  // most requests at one instant
}

// Identity is what the trace says of shared prefixes.
type Identity struct {
	Known     int    `json:"known"` // requests with prefix identity
	Kind      string `json:"kind"`
	BlockSize int32  `json:"block_size"`
	BlockTail string `json:"block_tail"`
	HitRatio  number `json:"infinite_cache_hit_ratio"` // prompt tokens that an endless cache would have, of known requests
	Groups    int    `json:"first_block_groups"`       // different beginnings
	TopShare  number `json:"top_group_share"`          // requests in the largest group / known
}

// AdapterInfo is what the trace says of LoRA adapters.
type AdapterInfo struct {
	Count     int    `json:"count"`      // different ones
	Top       string `json:"top"`        // the one with most requests, the first of equals; "" without any
	TopShare  number `json:"top_share"`  // of all requests
	BaseShare number `json:"base_share"` // requests that name no adapter, of all
	Overlay   string `json:"overlay"`    // how they were drawn, "" if they are the source's
}

// Inspect describes t.
func Inspect(t *traces.Trace) TraceInfo {
	info := TraceInfo{
		Name: t.Name, Digest: t.Digest, Format: t.Meta.SourceFormat, Requests: t.Len(),
		Prompt: spread(t.Prompt), Output: spread(t.Output),
		Ties:        TieInfo{tied(t.ArrivalNs), largestTie(t.ArrivalNs)},
		Identity:    identity(t),
		Adapters:    adapters(t),
		MemoryBytes: memory(t),
		Warnings:    append([]string{}, t.Notes...),
	}
	span := traceFacts(t).SpanS
	info.SpanS = number(span)
	info.Rate = RateInfo{number(float64(t.Len()) / span), peak(t.ArrivalNs, 1), peak(t.ArrivalNs, 60)}
	return info
}

// spread leaves out what is Unknown.
func spread(tokens []int32) Spread {
	var s Spread
	var values []float64
	for _, n := range tokens {
		if n != traces.Unknown {
			values = append(values, float64(n))
			s.Total += int64(n)
		}
	}
	s.Known = len(values)
	nan := number(math.NaN())
	s.Mean, s.P50, s.P90, s.P99, s.Max = nan, nan, nan, nan, nan
	if s.Known == 0 {
		return s
	}
	slices.Sort(values)
	at := func(p float64) number { return number(stat.Quantile(p, stat.Empirical, values, nil)) }
	s.Mean = number(float64(s.Total) / float64(s.Known))
	s.P50, s.P90, s.P99, s.Max = at(0.5), at(0.9), at(0.99), at(1)
	return s
}

// largestTie returns the length of the longest run of equal arrivals.
func largestTie(arrivals []int64) int {
	longest, run := 0, 0
	for i, a := range arrivals {
		if i > 0 && arrivals[i-1] != a {
			run = 0
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// peak returns the highest rate, requests per second, over windows of whole seconds from the first arrival; NaN if the
// trace is shorter than a window.
func peak(arrivals []int64, window int64) number {
	if n := len(arrivals); n == 0 || arrivals[n-1]-arrivals[0] < window*1e9 {
		return number(math.NaN())
	}
	most, n, current := 0, 0, int64(0)
	for _, a := range arrivals {
		w := (a - arrivals[0]) / (window * 1e9)
		if w != current {
			current, n = w, 0
		}
		n++
		most = max(most, n)
	}
	return number(float64(most) / float64(window))
}

func identity(t *traces.Trace) Identity {
	f := t.Forest
	id := Identity{Kind: t.Meta.IdentityKind, BlockSize: t.Meta.BlockSize, BlockTail: string(t.Meta.BlockTail)}
	for row := range t.Len() {
		if t.Identified(row) {
			id.Known++
		}
	}
	most := int32(0)
	for node, parent := range f.Parent {
		if parent < 0 {
			id.Groups++
			most = max(most, f.Walks[node])
		}
	}
	id.TopShare, id.HitRatio = number(math.NaN()), number(math.NaN())
	if id.Known > 0 {
		id.TopShare = number(float64(most) / float64(id.Known))
		id.HitRatio = number(t.InfiniteHitRatio())
	}
	return id
}

func adapters(t *traces.Trace) AdapterInfo {
	requests, top := make([]int, len(t.Strings)), int32(0)
	info := AdapterInfo{Overlay: t.Meta.Overlay("adapters")}
	for _, a := range t.Adapter {
		requests[a]++
		if a != 0 && requests[a] == 1 {
			info.Count++
		}
	}
	for _, a := range t.Adapter { // in order of appearance, which settles ties
		if a != 0 && (top == 0 || requests[a] > requests[top]) {
			top = a
		}
	}
	if top != 0 {
		info.Top = t.Strings[top]
		info.TopShare = number(float64(requests[top]) / float64(t.Len()))
	}
	info.BaseShare = number(float64(requests[0]) / float64(t.Len()))
	return info
}

// memory returns the bytes of the trace's columns and forest.
func memory(t *traces.Trace) int64 {
	const perRequest = 8 + 8 + 4*4 + 5*4 // arrival, line; prompt, output, max, leaf; five names
	const perNode = 4 + 4 + 4 + 8
	n := int64(t.Len())*perRequest + int64(len(t.Forest.Parent))*perNode
	for _, s := range t.Strings {
		n += int64(len(s)) + 16
	}
	return n
}
