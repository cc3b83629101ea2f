package reports

import (
	"fmt"
	"strings"

	"github.com/seed-2cee110a/triage/sim"
)

// GatewayText says what a gateway holds, in which order, and what it sends.
func GatewayText(g sim.Gateway) string {
	limit := "any number of requests"
	if g.MaxQueue > 0 {
		limit = "at most " + count(g.MaxQueue, "request")
	}
	if g.MaxTokens > 0 {
		limit += fmt.Sprintf(" of at most %s tokens", group(g.MaxTokens))
	}
	text := fmt.Sprintf("holds %s, each %v at most", limit, g.Deadline)
	if g.EDF {
		text += ", the earliest deadline first"
	}
	if g.Turn > 0 {
		text += fmt.Sprintf("; tenants take turns of %s tokens", group(g.Turn))
	}
	var most []string
	if g.InFlight > 0 {
		most = append(most, count(int(g.InFlight), "request"))
	}
	if g.InFlightTokens > 0 {
		most = append(most, group(g.InFlightTokens)+" tokens")
	}
	if len(most) > 0 {
		text += "; in flight on a replica " + strings.Join(most, " and ") + " at most"
	}
	return text
}

// LimitText says what a tenant may use.
func LimitText(l sim.TenantLimit) string {
	return fmt.Sprintf("tenant %s: %v tokens a second, %v at once", l.Tenant, l.Rate, l.Burst)
}

// ClassText says how requests of a class are held.
func ClassText(c sim.Class) string {
	return fmt.Sprintf("%s: priority %d, held %v at most", c.SLO, c.Priority, c.Deadline)
}

// RoutersText says how many routers there are and which gets a request.
func RoutersText(r sim.Routers) string {
	split := "by a hash of the session"
	if r.By == sim.InTurn {
		split = "in turn"
	}
	return fmt.Sprintf("%d, each with a book of its own; they get requests %s", r.N, split)
}

// gatewayLines are the lines of the header about routers and the gateway, none if there is nothing but a plain queue.
func gatewayLines(cfg sim.Config) []line {
	var out []line
	if cfg.Routers.N > 1 {
		out = append(out, line{"routers", RoutersText(cfg.Routers)})
	}
	g := cfg.Gateway
	if g.MaxTokens > 0 || g.EDF || g.Turn > 0 || g.InFlight > 0 || g.InFlightTokens > 0 {
		out = append(out, line{"gateway", GatewayText(g)})
	}
	for _, l := range g.Limits {
		out = append(out, line{"limit", LimitText(l)})
	}
	for _, c := range g.Classes {
		out = append(out, line{"class", ClassText(c)})
	}
	return out
}

// gatewayJSON leaves out what is not set.
type gatewayJSON struct {
	MaxQueue       int         `json:"max_queue"`
	DeadlineS      number      `json:"deadline_s"`
	MaxTokens      int64       `json:"max_tokens,omitempty"`
	Order          string      `json:"order,omitempty"`
	Turn           int64       `json:"turn,omitempty"`
	InFlight       int32       `json:"max_inflight,omitempty"`
	InFlightTokens int64       `json:"max_inflight_tokens,omitempty"`
	Limits         []limitJSON `json:"rate_limits,omitempty"`
	Classes        []classJSON `json:"classes,omitempty"`
}

type limitJSON struct {
	Tenant string `json:"tenant"`
	Rate   number `json:"tokens_per_s"`
	Burst  number `json:"burst"`
}

type classJSON struct {
	SLO       string `json:"slo"`
	Priority  int16  `json:"priority"`
	DeadlineS number `json:"deadline_s"`
}

func gatewayOut(g sim.Gateway) gatewayJSON {
	out := gatewayJSON{MaxQueue: g.MaxQueue, DeadlineS: number(g.Deadline.Seconds()), MaxTokens: g.MaxTokens, Turn: g.Turn,
		InFlight: g.InFlight, InFlightTokens: g.InFlightTokens}
	if g.EDF {
		out.Order = "edf"
	}
	for _, l := range g.Limits {
		out.Limits = append(out.Limits, limitJSON{l.Tenant, number(l.Rate), number(l.Burst)})
	}
	for _, c := range g.Classes {
		out.Classes = append(out.Classes, classJSON{c.SLO, c.Priority, number(c.Deadline.Seconds())})
	}
	return out
}
