package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/seed-2cee110a/triage/sim"
)

// gatewaySection reads what stands in gateway: keys that are flags, and two lists.
func (f *clusterFile) gatewaySection(n ast.Node) error {
	return f.mapping(n, "gateway", append(f.keys("gateway", &f.rest, gatewayKeys),
		entry{"rate_limits", func(n ast.Node) error { return f.list(n, "gateway.rate_limits", f.readLimit) }},
		entry{"classes", func(n ast.Node) error { return f.list(n, "gateway.classes", f.readClass) }}))
}

// readLimit reads what a tenant may use.
func (f *clusterFile) readLimit(i int, n ast.Node) error {
	what, at := fmt.Sprintf("gateway.rate_limits[%d]", i), start(n)
	var tenant string
	var name *token.Token
	var rate, burst float64
	err := f.mapping(n, what, []entry{
		{"tenant", f.text(what+".tenant", &tenant, &name)},
		{"tokens_per_s", f.value(what+".tokens_per_s", setPositive(&rate))},
		{"burst", f.value(what+".burst", setPositive(&burst))}})
	if err == nil && (name == nil || rate == 0) {
		err = f.at(at, fmt.Errorf("%s lacks tenant or tokens_per_s; the tenant * is any", what))
	}
	f.limits = append(f.limits, limitOf(tenant, rate, burst))
	return err
}

func setPositive(p *float64) func(string) error {
	return func(text string) (err error) {
		*p, err = positive(text)
		return err
	}
}

// readClass reads how requests with an SLO are held.
func (f *clusterFile) readClass(i int, n ast.Node) error {
	what, at := fmt.Sprintf("gateway.classes[%d]", i), start(n)
	var c sim.Class
	var name *token.Token
	timed := false
	err := f.mapping(n, what, []entry{
		{"slo", f.text(what+".slo", &c.SLO, &name)},
		{"priority", f.value(what+".priority", func(text string) (err error) { c.Priority, err = parsePriority(text); return err })},
		{"deadline", f.value(what+".deadline", func(text string) error { timed = true; return durationOf(&c.Deadline).Set(text) })}})
	if err == nil && (name == nil || !timed) {
		err = f.at(at, fmt.Errorf("%s lacks slo or deadline; the slo * is any", what))
	}
	f.classes = append(f.classes, c)
	return err
}

// readSignals reads what the flag takes, or one of scrape: DUR and push: DUR with its options.
func (f *clusterFile) readSignals(n ast.Node) error {
	at := n.GetToken()
	add := func(name, text string) {
		f.rest = append(f.rest, setting{key{"signals", "signals"}, name, text, at})
	}
	if s, ok := n.(*ast.StringNode); ok {
		add("signals", s.Value)
		return nil
	}
	var source, options []string
	part := func(name string, out *[]string) entry {
		return entry{name, func(n ast.Node) error {
			text, err := f.scalar(n, "signals."+name)
			*out, at = append(*out, name+"="+text), n.GetToken()
			return err
		}}
	}
	err := f.mapping(n, "signals", []entry{part("scrape", &source), part("push", &source), part("delay", &options), part("phase", &options),
		{"fields", func(n ast.Node) error {
			var names []string
			err := f.texts("signals.fields", &names)(n)
			options = append(options, "fields="+strings.Join(names, "+"))
			return err
		}}})
	switch {
	case err != nil:
	case len(source) == 0 && len(options) == 0: // nothing is said
	case len(source) != 1:
		err = f.at(at, errors.New("signals has both or none of scrape and push, want one of them, or live"))
	case len(source)+len(options) == 1:
		name, _, _ := strings.Cut(source[0], "=")
		add("signals."+name, source[0])
	default:
		add("signals", strings.Join(append(source, options...), ","))
	}
	return err
}

// readRouters reads a number of routers, or n and by.
func (f *clusterFile) readRouters(n ast.Node) error {
	var number, by string
	var at *token.Token
	if _, ok := n.(ast.MapNode); !ok {
		if err := f.text("routers", &number, &at)(n); err != nil {
			return err
		}
	} else {
		at = start(n)
		var where *token.Token
		if err := f.mapping(n, "routers", []entry{{"n", f.text("routers.n", &number, &where)}, {"by", f.text("routers.by", &by, &where)}}); err != nil {
			return err
		}
		if number == "" {
			return f.at(at, errors.New("routers lacks n, want how many there are"))
		}
	}
	if by != "" {
		number += ",by=" + by
	}
	f.rest = append(f.rest, setting{key{"routers", "routers"}, "routers", number, at})
	return nil
}
