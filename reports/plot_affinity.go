package reports

import (
	"cmp"
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
)

// AffinitySeries is TTFT by the share of the prompt that hit, by policy and prompt length: what the picture "affinity"
// shows. Prompt length confounds, as long prompts take longer and share differently, so bands of like length are apart.
type AffinitySeries struct {
	Trace     string
	Policies  []string
	Bands     []LengthBand // the first holds all lengths
	Cells     []AffinityCell
	Contrasts []Contrast // by band, then policy
	Unknown   int        // completed requests without prefix identity, of all policies together; they are in no cell
}

// LengthBand is a range of prompt lengths in tokens, both ends included.
type LengthBand struct {
	From, To int32
	Requests int // of the trace
}

// AffinityCell is a bucket of a policy's completed requests in a band. Times in seconds, NaN over no requests.
type AffinityCell struct {
	Band, Policy, Bucket   int // indices; buckets are in the order cold, (0,0.25], (0.25,0.75], (0.75,1), full
	N                      int
	Share                  float64 // of the requests of the policy and band
	Mean                   float64
	P5, P25, P50, P75, P95 float64
	Cost                   float64 // N times (Mean - the mean of the warm ones of policy and band), at least 0; NaN without warm ones
	CostShare              float64 // of the sum over the buckets; NaN if that is below clearCost of the summed TTFT, and noise
}

// clearCost is the share of the summed TTFT of a policy and band below which its cost is noise: where warm and cold wait
// alike, some bucket is always the slowest.
const clearCost = 0.05

// Contrast compares the requests of a policy and band that hit little, at most 25 % of the prompt, with the warm ones, that
// hit more than 75 % or all that could. Medians in seconds, NaN over none.
type Contrast struct {
	Band, Policy       int
	LittleN, WarmN     int
	LittleP50, WarmP50 float64
}

func newContrast(band, policy int, buckets [][]float64) Contrast {
	little := slices.Concat(buckets[:2]...)
	warm := slices.Concat(buckets[warmBucket:unknownBucket]...)
	slices.Sort(little)
	slices.Sort(warm)
	return Contrast{band, policy, len(little), len(warm), quantileOf(little, 0.5), quantileOf(warm, 0.5)}
}

// lengthBands is in how many bands of like length the prompts are cut, about as many requests in each.
const lengthBands = 3

// NewAffinitySeries computes the numbers.
func NewAffinitySeries(g *Gallery) *AffinitySeries {
	s := &AffinitySeries{Trace: g.Trace, Policies: g.policies(), Bands: bands(g)}
	for b, band := range s.Bands {
		for p := range g.Runs {
			buckets := sortedByBucket(&g.Runs[p], band)
			if b == 0 {
				s.Unknown += len(buckets[unknownBucket])
			}
			s.Cells = append(s.Cells, affinityCells(b, p, buckets[:unknownBucket])...)
			s.Contrasts = append(s.Contrasts, newContrast(b, p, buckets))
		}
	}
	return s
}

// bands cuts the lengths of the prompts at their quantiles. Prompts of one length are never apart.
func bands(g *Gallery) []LengthBand {
	var lengths []int32
	if len(g.Runs) > 0 {
		for _, q := range g.Runs[0].Requests {
			lengths = append(lengths, q.Prompt)
		}
	}
	if len(lengths) == 0 {
		return []LengthBand{{}}
	}
	slices.Sort(lengths)
	n := len(lengths)
	out := []LengthBand{{lengths[0], lengths[n-1], n}}
	from := 0
	for i := 1; i <= lengthBands && from < n; i++ {
		to := max(from+1, n*i/lengthBands)
		for to < n && lengths[to] == lengths[to-1] {
			to++
		}
		out = append(out, LengthBand{lengths[from], lengths[to-1], to - from})
		from = to
	}
	if len(out) == 2 { // all of one length: the band is the whole
		return out[:1]
	}
	return out
}

// sortedByBucket returns the TTFTs of the completed requests of a band, by bucket, each sorted.
func sortedByBucket(p *Played, band LengthBand) [][]float64 {
	out := make([][]float64, unknownBucket+1)
	for i := range p.Requests {
		q := &p.Requests[i]
		if q.Completed && q.Prompt >= band.From && q.Prompt <= band.To {
			b := q.bucket()
			out[b] = append(out[b], q.TTFT)
		}
	}
	for _, v := range out {
		slices.Sort(v)
	}
	return out
}

// affinityCells computes the cells of a policy and band, costs included.
func affinityCells(band, policy int, buckets [][]float64) []AffinityCell {
	cells := make([]AffinityCell, len(buckets))
	total, warmN, all, warmSum := 0, 0, 0.0, 0.0
	for i, v := range buckets {
		total += len(v)
		all += sum(v)
		if i >= warmBucket {
			warmN += len(v)
			warmSum += sum(v)
		}
	}
	cost := 0.0
	for i, v := range buckets {
		c := AffinityCell{Band: band, Policy: policy, Bucket: i, N: len(v), Share: share(len(v), total), Mean: sum(v) / float64(len(v)),
			P5: quantileOf(v, 0.05), P25: quantileOf(v, 0.25), P50: quantileOf(v, 0.5), P75: quantileOf(v, 0.75), P95: quantileOf(v, 0.95), Cost: math.NaN()}
		if warmN > 0 {
			c.Cost = math.Max(0, sum(v)-float64(float64(len(v))*(warmSum/float64(warmN))))
			cost += c.Cost
		}
		cells[i] = c
	}
	shown := cost > 0 && cost >= float64(clearCost*all)
	for i := range cells {
		cells[i].CostShare = math.NaN()
		if shown {
			cells[i].CostShare = cells[i].Cost / cost
		}
	}
	return cells
}

func sum(values []float64) float64 {
	s := 0.0
	for _, v := range values {
		s += v
	}
	return s
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// quantileOf is the quantile q of sorted values by nearest rank, NaN of none.
func quantileOf(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	i := int(math.Ceil(float64(q*float64(len(sorted))))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// cell returns the one of those indices.
func (s *AffinitySeries) cell(band, policy, bucket int) *AffinityCell {
	return &s.Cells[(band*len(s.Policies)+policy)*unknownBucket+bucket]
}

// contrast returns the one of a band and policy.
func (s *AffinitySeries) contrast(band, policy int) *Contrast {
	return &s.Contrasts[band*len(s.Policies)+policy]
}

// known says whether there is anything to draw: a completed request with identity.
func (s *AffinitySeries) known() bool {
	return slices.ContainsFunc(s.Cells, func(c AffinityCell) bool { return c.N > 0 })
}

// overall is a policy's mean TTFT and the share of warm requests, over all lengths.
func (s *AffinitySeries) overall(policy int) (mean, warm float64) {
	n, total, hot := 0, 0.0, 0
	for b := range unknownBucket {
		c := s.cell(0, policy, b)
		if c.N == 0 {
			continue
		}
		n += c.N
		total += float64(c.Mean * float64(c.N))
		if b >= warmBucket {
			hot += c.N
		}
	}
	return total / float64(n), share(hot, n)
}

// best is the policy with the lowest mean TTFT.
func (s *AffinitySeries) best() int {
	best := 0
	for p := range s.Policies {
		if m, _ := s.overall(p); cmp.Less(m, first(s.overall(best))) && known(m) {
			best = p
		}
	}
	return best
}

func first[A, B any](a A, _ B) A { return a }

// CSV writes a row a cell.
func (s *AffinitySeries) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"policy", "prompt_from", "prompt_to", "bucket", "n", "share", "ttft_mean_s", "ttft_p5_s", "ttft_p25_s",
		"ttft_p50_s", "ttft_p75_s", "ttft_p95_s", "cost_s", "cost_share"}) // the writer keeps the first error
	names := bucketOrder()
	for _, c := range s.Cells {
		b := s.Bands[c.Band]
		row := []string{s.Policies[c.Policy], strconv.Itoa(int(b.From)), strconv.Itoa(int(b.To)), names[c.Bucket], strconv.Itoa(c.N)}
		for _, v := range []float64{c.Share, c.Mean, c.P5, c.P25, c.P50, c.P75, c.P95, c.Cost, c.CostShare} {
			row = append(row, csvFloat(v))
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}
