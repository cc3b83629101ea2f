package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/seed-2cee110a/triage/sim"
)

// clusterFile is a cluster file as it is written, its keys known and its values not yet looked at.
type clusterFile struct {
	yamlFile
	defaults settings // of pools: what one does not say itself
	engine   settings
	rest     settings // what is not of pools
	pools    []poolFile
	needs    []needFile
	limits   []sim.TenantLimit
	classes  []sim.Class
	faults   []faultFile
}

// settings are the values given for keys.
type settings []setting

type setting struct {
	key
	what string       // the key with the names of what it stands in
	text string       // the value
	at   *token.Token // of the value
}

func (s settings) get(name string) *setting {
	for i := range s {
		if s[i].name == name {
			return &s[i]
		}
	}
	return nil
}

type poolFile struct {
	name         string
	own, engine  settings
	serves, caps []string
	at           *token.Token
}

// says returns the pool's own setting of a key, nil if it has none.
func (p *poolFile) says(name string) *setting {
	if s := p.own.get(name); s != nil {
		return s
	}
	return p.engine.get(name)
}

type needFile struct {
	sim.Need
	at *token.Token
}

type faultFile struct {
	sim.Fault
	factor      bool // it has one
	at, replica *token.Token
}

// readCluster reads a cluster file.
func readCluster(name string) (*clusterFile, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, named(name, err)
	}
	return parseCluster(name, data)
}

func parseCluster(name string, data []byte) (*clusterFile, error) {
	f := &clusterFile{yamlFile: yamlFile{name: name, belongs: belongs()}}
	root, err := f.parse(data)
	if err != nil {
		return nil, err
	}
	if err := f.mapping(root, "the file", f.sections()); err != nil {
		return nil, err
	}
	return f, f.checkNames()
}

func (f *clusterFile) sections() []entry {
	all := append(f.keys("", &f.rest, topKeys),
		entry{"defaults", f.section("defaults", &f.defaults, slices.Concat([]key{replicasKey}, poolKeys))},
		entry{"engine", f.section("engine", &f.engine, engineKeys)},
		entry{"pools", func(n ast.Node) error { return f.list(n, "pools", f.readPool) }},
		entry{"needs", func(n ast.Node) error { return f.list(n, "needs", f.readNeed) }},
		entry{"gateway", f.gatewaySection},
		entry{"signals", f.readSignals},
		entry{"routers", f.readRouters},
		entry{"faults", func(n ast.Node) error { return f.list(n, "faults", f.readFault) }})
	slices.SortStableFunc(all, func(a, b entry) int { return slices.Index(sectionOrder, a.key) - slices.Index(sectionOrder, b.key) })
	return all
}

// belongs says where keys stand that people put elsewhere.
func belongs() map[string]string {
	out := map[string]string{}
	for _, s := range []struct {
		keys []key
		of   string
	}{{poolKeys, "defaults or of a pool"}, {engineKeys, "engine"}, {gatewayKeys, "gateway"}, {topKeys, "the file"}} {
		for _, k := range s.keys {
			out[k.name] = s.of
		}
	}
	return out
}

// sectionOrder is the order in which keys of the file are listed.
var sectionOrder = []string{"defaults", "engine", "pools", "default_model", "needs", "gateway", "signals", "routers", "faults", "on_crash", "detect",
	"sessions", "think"}

// keys makes an entry of each key; section is "" or the name to put before theirs in errors.
func (f *clusterFile) keys(section string, out *settings, keys []key) []entry {
	var all []entry
	for _, k := range keys {
		what := k.name
		if section != "" {
			what = section + "." + k.name
		}
		all = append(all, entry{k.name, func(n ast.Node) error {
			text, err := f.scalar(n, what)
			*out = append(*out, setting{k, what, text, n.GetToken()})
			return err
		}})
	}
	return all
}

func (f *clusterFile) section(name string, out *settings, keys []key) func(ast.Node) error {
	return func(n ast.Node) error { return f.mapping(n, name, f.keys(name, out, keys)) }
}

func (f *clusterFile) readPool(i int, n ast.Node) error {
	p := poolFile{at: start(n)}
	what := fmt.Sprintf("pools[%d]", i)
	entries := append([]entry{{"name", f.text(what+".name", &p.name, &p.at)}}, f.keys(what, &p.own, slices.Concat([]key{replicasKey}, poolKeys))...)
	entries = append(entries,
		entry{"engine", f.section(what+".engine", &p.engine, engineKeys)},
		entry{"serves", f.texts(what+".serves", &p.serves)},
		entry{"caps", f.texts(what+".caps", &p.caps)})
	if err := f.mapping(n, what, entries); err != nil {
		return err
	}
	switch {
	case p.name == "":
		return f.at(p.at, fmt.Errorf("%s has no name", what))
	case strings.ContainsFunc(p.name, unicode.IsControl):
		return f.at(p.at, fmt.Errorf("%s.name is %q, want one without control characters", what, p.name))
	case p.says("replicas") == nil:
		return f.at(p.at, fmt.Errorf("pool %s does not say how many replicas it has", p.name))
	}
	f.pools = append(f.pools, p)
	return nil
}

// text reads one text and where it stands.
func (f *clusterFile) text(what string, out *string, at **token.Token) func(ast.Node) error {
	return func(n ast.Node) (err error) {
		*at = n.GetToken()
		*out, err = f.scalar(n, what)
		return err
	}
}

func (f *clusterFile) readNeed(i int, n ast.Node) error {
	d := needFile{at: start(n)}
	what := fmt.Sprintf("needs[%d]", i)
	var at *token.Token
	err := f.mapping(n, what, []entry{
		{"model", f.text(what+".model", &d.Model, &at)},
		{"tenant", f.text(what+".tenant", &d.Tenant, &at)},
		{"slo", f.text(what+".slo", &d.SLO, &at)},
		{"prompt_tokens_at_least", f.value(what+".prompt_tokens_at_least", count[int]{&d.MinPrompt}.Set)},
		{"caps", f.texts(what+".caps", &d.Caps)}})
	if err == nil && len(d.Caps) == 0 {
		err = f.at(d.at, fmt.Errorf("%s has no caps, want the capabilities that such requests need", what))
	}
	f.needs = append(f.needs, d)
	return err
}

func (f *clusterFile) readFault(i int, n ast.Node) error {
	d := faultFile{at: start(n)}
	what := fmt.Sprintf("faults[%d]", i)
	timed := false
	var kinds []string
	for _, k := range sim.FaultKinds {
		kinds = append(kinds, string(k))
	}
	err := f.mapping(n, what, []entry{
		{"at", f.value(what+".at", func(text string) error { timed = true; return durationOf(&d.At).Set(text) })},
		{"replica", f.text(what+".replica", &d.Replica, &d.replica)},
		{"do", f.value(what+".do", choice[sim.FaultKind]{&d.Do, kinds}.Set)},
		{"factor", f.value(what+".factor", func(text string) error { d.factor = true; return number{&d.Factor}.Set(text) })}})
	switch {
	case err != nil:
	case !timed || d.Replica == "" || d.Do == "":
		err = f.at(d.at, fmt.Errorf("%s lacks one of at, replica, do", what))
	case d.factor != (d.Do == sim.Slow):
		err = f.at(d.at, fmt.Errorf("%s: slow has a factor, the others have none", what))
	}
	f.faults = append(f.faults, d)
	return err
}

// value reads one value.
func (f *clusterFile) value(what string, set func(string) error) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := f.scalar(n, what)
		if err != nil {
			return err
		}
		if err := set(text); err != nil {
			return f.at(n.GetToken(), fmt.Errorf("%s is %q: %w", what, text, err))
		}
		return nil
	}
}

// checkNames finds pools of one name, and rules without pools.
func (f *clusterFile) checkNames() error {
	for i, p := range f.pools {
		for _, other := range f.pools[:i] {
			if other.name == p.name {
				return f.at(p.at, fmt.Errorf("two pools are called %q, want a name for each", p.name))
			}
		}
	}
	switch s := f.defaults.get("replicas"); {
	case len(f.pools) > 0 && s != nil:
		return f.at(s.at, errors.New("defaults.replicas says nothing where each pool says how many it has"))
	case len(f.pools) > 0:
		return nil
	}
	if d := f.rest.get("default_model"); d != nil {
		return f.at(d.at, errors.New("default_model needs pools: without them every replica serves every model"))
	}
	if len(f.needs) > 0 {
		return f.at(f.needs[0].at, errors.New("needs says nothing without pools, some of which have the caps"))
	}
	return nil
}
