package reports

import (
	"fmt"

	"github.com/seed-2cee110a/triage/sim"
)

// signalsPrice is what part of the gain in mean TTFT over the baseline old signals and several routers cost a run.
type signalsPrice struct {
	interval
	gain  float64 // with perfect signals, seconds
	doubt string  // why there is no interval; "" if there is one
}

// signalsCost says what the signals cost, where runs with perfect ones stand beside.
func signalsCost(c *Comparison) []Finding {
	var out []Finding
	for i := range c.Runs {
		r := &c.Runs[i]
		p := r.beside(PerfectSignals)
		if p == nil || i == c.Baseline || !known(r.TTFT.Mean, p.TTFT.Mean, c.base().TTFT.Mean) {
			continue
		}
		out = append(out, Finding{Text: r.Policy + ": " + priceText(c, r, p), Policy: r.Policy, Evidence: &Evidence{Numbers: priceNumbers(c, r, p)}})
	}
	return out
}

func priceText(c *Comparison, r *Run, p *beside) string {
	base := c.base()
	text := fmt.Sprintf("with perfect signals (live, one router) its mean TTFT is %s instead of %s, against %s of %s; ",
		duration(p.TTFT.Mean), duration(r.TTFT.Mean), duration(base.TTFT.Mean), base.Policy)
	price := priceOf(c, r)
	switch {
	case price == nil:
		return text + "the runs refused different requests, so that their times do not compare"
	case price.gain <= noise*base.TTFT.Mean:
		return text + "even those gain nothing over " + base.Policy + " that signals could cost"
	}
	text += fmt.Sprintf("the signals cost %s of that gain", portion(price.mean))
	if price.doubt != "" {
		return text + " (" + price.doubt + ")"
	}
	return text + fmt.Sprintf(" (95 %% interval %s to %s, %d windows)", portion(price.low), portion(price.high), price.n)
}

// portion prints a part that may be below 0 or above 1, in percent.
func portion(v float64) string { return fmt.Sprintf("%.0f %%", v*100) }

func priceNumbers(c *Comparison, r *Run, p *beside) map[string]float64 {
	out := map[string]float64{"ttft_mean_s": r.TTFT.Mean, "perfect_ttft_mean_s": p.TTFT.Mean, "baseline_ttft_mean_s": c.base().TTFT.Mean}
	if price := priceOf(c, r); price != nil && price.gain > noise*c.base().TTFT.Mean {
		out["cost"] = price.mean
		if price.doubt == "" {
			out["cost_low"], out["cost_high"], out["windows"] = price.low, price.high, float64(price.n)
		}
	}
	return out
}

// priceOf compares the requests that the baseline, the run and the one beside it completed; nil if those differ much.
func priceOf(c *Comparison, r *Run) *signalsPrice {
	base, got, perfect := playedRows(c.base().result), playedRows(r.result), playedRows(r.beside(PerfectSignals).result)
	if refusals(base, got) != "" || refusals(base, perfect) != "" {
		return nil
	}
	var lost, gains, arrivals []float64
	for i := range base {
		if base[i].completed && got[i].completed && perfect[i].completed {
			lost, gains = append(lost, got[i].ttft-perfect[i].ttft), append(gains, base[i].ttft-perfect[i].ttft)
			arrivals = append(arrivals, base[i].arrival)
		}
	}
	p := partOf(lost, gains)
	if c.Config.Sessions == sim.Closed {
		p.doubt = "no interval: in closed sessions arrivals differ from run to run"
		return p
	}
	p.spread(lost, gains, cutWindows(arrivals, windowSize))
	return p
}

// partOf is the ratio of two sums.
func partOf(lost, gains []float64) *signalsPrice {
	l, g := sum(lost), sum(gains)
	return &signalsPrice{interval: interval{mean: l / g}, gain: g / float64(len(gains))}
}

// spread finds the interval of the ratio from its windows: to first order a window moves it by what is lost there beyond
// the ratio's share of the gain, over the mean gain (Cochran, Sampling Techniques, 1977, 6.3).
func (p *signalsPrice) spread(lost, gains []float64, cuts []int) {
	var x []float64
	mean := sum(gains) / float64(len(cuts)-1)
	for w := 1; w < len(cuts); w++ {
		from, to := cuts[w-1], cuts[w]
		x = append(x, p.mean+(sum(lost[from:to])-float64(p.mean*sum(gains[from:to])))/mean)
	}
	if len(x) < windowLeast {
		p.doubt = "no interval: too few requests"
		return
	}
	ratio := p.mean
	p.interval = studentInterval(x)
	p.mean = ratio
	if p.lag1 > entangled {
		p.doubt = "no interval: neighbouring windows move together"
	}
}

// playedRows takes what a comparison of requests needs from a result.
func playedRows(r *sim.Result) []outcome {
	out := make([]outcome, len(r.Outcomes))
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		out[i] = outcome{arrival: o.Arrived.Seconds(), completed: o.Status == sim.Completed}
		if out[i].completed {
			out[i].ttft = (o.First - o.Arrived).Seconds()
		}
	}
	return out
}
