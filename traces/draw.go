package traces

import (
	"math"
	"math/rand/v2"
	"sort"
)

// stream returns the random numbers for a purpose.
func stream(seed uint64, purpose string) *rand.Rand {
	return rand.New(rand.NewPCG(seed, hashString(0, purpose)))
}

// draw returns a value.
func (l Length) draw(r *rand.Rand) int {
	v := l.Median
	if l.Sigma > 0 {
		v *= exp(float64(l.Sigma * normal(r)))
	}
	return int(max(float64(l.Min), min(v, float64(l.Max))))
}

// uniform returns a number from 0 to below 1.
func uniform(r *rand.Rand) float64 { return unit(r.Uint64()) }

// unit makes a number from 0 to below 1 of 64 random bits.
func unit(bits uint64) float64 { return float64(bits>>11) / (1 << 53) }

// zipf returns the cumulated weights 1/k^s of k = 1..n.
func zipf(n int, s float64) []float64 {
	sum, cumulated := 0.0, make([]float64, n)
	for k := range cumulated {
		sum += exp(float64(-s * log(float64(k+1))))
		cumulated[k] = sum
	}
	return cumulated
}

// rank returns the place in cumulated weights at a share of their sum, 0 to below 1.
func rank(cumulated []float64, share float64) int {
	x := float64(share * cumulated[len(cumulated)-1])
	return min(sort.SearchFloat64s(cumulated, x), len(cumulated)-1)
}

// exponential returns a number with mean 1.
func exponential(r *rand.Rand) float64 { return -log(1 - uniform(r)) }

// normal returns a standard normal number (Box and Muller).
func normal(r *rand.Rand) float64 {
	a, b := exponential(r), uniform(r)
	return math.Sqrt(2*a) * cosTurns(b)
}

// arrivals are the starts of sessions: a Poisson process whose rate switches between two values.
type arrivals struct {
	r        *rand.Rand
	now      float64 // seconds
	until    float64 // when the rate switches
	on       bool
	rate     [2]float64 // low, high, per second
	duration [2]float64 // mean, seconds
}

func newArrivals(p Params) arrivals {
	mean := p.Rate / expectedTurns(p)
	a := arrivals{r: stream(p.Seed, "arrivals"), rate: [2]float64{mean, mean}, until: math.Inf(1)}
	if p.Burst.none() {
		return a
	}
	on, off := p.Burst.On.Seconds(), p.Burst.Off.Seconds()
	a.rate = [2]float64{mean * (on + off - float64(p.Burst.Factor*on)) / off, mean * p.Burst.Factor}
	a.duration = [2]float64{off, on}
	a.until = float64(off * exponential(a.r))
	return a
}

// expectedTurns is the mean of a geometric distribution, cut at MaxTurns. MaxPrompt may end sessions earlier.
func expectedTurns(p Params) float64 {
	if p.MaxTurns == 0 {
		return p.Turns
	}
	return p.Turns * (1 - power(1-1/p.Turns, p.MaxTurns))
}

// next returns the next start, ns in whole microseconds.
func (a *arrivals) next() int64 {
	for {
		state := 0
		if a.on {
			state = 1
		}
		at := math.Inf(1)
		if a.rate[state] > 0 {
			at = a.now + exponential(a.r)/a.rate[state]
		}
		if at <= a.until {
			a.now = at
			return int64(at*1e6) * 1000
		}
		a.now, a.on = a.until, !a.on
		a.until += float64(a.duration[1-state] * exponential(a.r))
	}
}
