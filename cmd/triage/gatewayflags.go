package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
)

// bindGateway binds the flags that say what stands before the replicas: routers, what they hear, their queues and limits.
func bindGateway(f *pflag.FlagSet, cfg *sim.Config) {
	g := &cfg.Gateway
	f.Var(signals{&cfg.Signals}, "signals", "how the replicas' numbers reach the router: those of the instant, asked for in turn, or told at each change and heard so much later; options after commas: delay=DUR, phase=spread|same, fields=waiting+running+kv")
	f.Var(routers{&cfg.Routers}, "routers", "routers, each with a book and a belief of its own; they get requests by session, or in turn")
	f.Var(count[int]{&g.MaxQueue}, "gateway-queue", "requests held at the gateway at most, then 429; 0 is no limit")
	f.Var(count[int64]{&g.MaxTokens}, "gateway-tokens", "prompt and expected output tokens held at the gateway at most, then 429; 0 is no limit")
	f.Var(durationOf(&g.Deadline), "gateway-deadline", "longest hold at the gateway, then 503")
	f.Var(order{&g.EDF}, "gateway-order", "first come, first served, or earliest deadline first")
	f.Var(count[int64]{&g.Turn}, "gateway-turn", "tenants that are held take turns of so many tokens; 0: they take none")
	f.Var(count[int32]{&g.InFlight}, "max-inflight", "requests in flight of a router on a replica at most, the rest is held; 0 is no limit")
	f.Var(count[int64]{&g.InFlightTokens}, "max-inflight-tokens", "prompt and expected output tokens in flight likewise; 0 is no limit")
	f.Var(&repeated[sim.TenantLimit]{list: &g.Limits, parse: parseLimit, kind: "TENANT=N[:N]"}, "rate-limit",
		"prompt and generated tokens a second that a tenant may use, and how many at once (else those of a second); beyond that 429; * is any; repeatable, the first that fits")
	f.Var(&repeated[sim.Class]{list: &g.Classes, parse: parseClass, kind: "SLO=N:DUR"}, "class",
		"priority (higher goes first) and longest hold of requests with this slo in the trace; * is any; repeatable, the first that fits")
}

// routers is the flag for a number of routers.
type routers struct{ p *sim.Routers }

func (r routers) Type() string   { return "N[,by=turn]" }
func (r routers) String() string { return r.p.String() }

func (r routers) Set(text string) error {
	v, err := sim.ParseRouters(text)
	if err == nil && v.N == 0 {
		err = errors.New("want at least 1")
	}
	if err == nil {
		*r.p = v
	}
	return err
}

// order is the flag for the order of held requests.
type order struct{ edf *bool }

func (o order) Type() string { return "fcfs|edf" }

func (o order) String() string {
	if *o.edf {
		return "edf"
	}
	return "fcfs"
}

func (o order) Set(text string) error {
	word := o.String()
	err := choice[string]{&word, []string{"fcfs", "edf"}}.Set(text)
	*o.edf = word == "edf"
	return err
}

// repeated is a flag that adds to a list each time that it is given.
type repeated[T fmt.Stringer] struct {
	list  *[]T
	parse func(text string) (T, error)
	kind  string
}

func (r *repeated[T]) Type() string   { return r.kind }
func (r *repeated[T]) String() string { return strings.Join(r.GetSlice(), " ") }

func (r *repeated[T]) Set(text string) error { return r.Append(text) }

// Append adds a value; with Replace and GetSlice it is what pflag asks of a list.
func (r *repeated[T]) Append(text string) error {
	v, err := r.parse(text)
	if err == nil {
		*r.list = append(slices.Clip(*r.list), v)
	}
	return err
}

func (r *repeated[T]) Replace(all []string) error {
	*r.list = nil
	for _, text := range all {
		if err := r.Append(text); err != nil {
			return err
		}
	}
	return nil
}

// GetSlice returns the values as they are given.
func (r *repeated[T]) GetSlice() []string {
	var out []string
	if r.list == nil { // a zero value, which pflag looks at
		return nil
	}
	for _, v := range *r.list {
		out = append(out, v.String())
	}
	return out
}

// parseLimit reads TENANT=TOKENS_PER_S[:BURST].
func parseLimit(text string) (l sim.TenantLimit, err error) {
	i := strings.LastIndexByte(text, '=')
	if i < 0 {
		return l, errors.New("want TENANT=TOKENS_PER_S or TENANT=TOKENS_PER_S:BURST, such as acme=20000:60000, or *=20000 for every other tenant")
	}
	rate, burst, twice := strings.Cut(text[i+1:], ":")
	l.Tenant = text[:i]
	if l.Rate, err = positive(rate); err != nil {
		return l, fmt.Errorf("%q tokens a second: %w", rate, err)
	}
	l.Burst = secondOf(l.Rate)
	if twice {
		if l.Burst, err = positive(burst); err != nil {
			return l, fmt.Errorf("%q tokens at once: %w", burst, err)
		}
	}
	return l, nil
}

// secondOf is what a tenant may use at once if nobody says it: the tokens of a second.
func secondOf(rate float64) float64 { return max(1, rate) }

func positive(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, errors.New("want a number above 0, such as 20000 or 2e4")
	}
	return v, nil
}

// parseClass reads SLO=PRIORITY:DEADLINE.
func parseClass(text string) (c sim.Class, err error) {
	const want = "want SLO=PRIORITY:DEADLINE, such as interactive=1:10s, or *=0:2m for every other class"
	i := strings.LastIndexByte(text, '=')
	if i < 0 {
		return c, errors.New(want)
	}
	priority, deadline, ok := strings.Cut(text[i+1:], ":")
	if !ok {
		return c, errors.New(want)
	}
	c.SLO = text[:i]
	if c.Priority, err = parsePriority(priority); err != nil {
		return c, err
	}
	if c.Deadline, err = parseDuration(deadline); err != nil {
		return c, fmt.Errorf("deadline %q: %w", deadline, err)
	}
	return c, nil
}

func parsePriority(text string) (int16, error) {
	v, err := strconv.ParseInt(text, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("priority %q: want a whole number from %d to %d", text, math.MinInt16, math.MaxInt16)
	}
	return int16(v), nil
}

// limitOf makes a limit of its parts.
func limitOf(tenant string, rate, burst float64) sim.TenantLimit {
	if burst == 0 {
		burst = secondOf(rate)
	}
	return sim.TenantLimit{Tenant: tenant, RateLimit: policies.RateLimit{Rate: rate, Burst: burst}}
}
