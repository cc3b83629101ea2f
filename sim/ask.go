package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2cee110a/triage/policies"
)

// ask is what a request asks of a cluster of named pools. Policies compare IDs and sets of bits, so that is what pools and
// requests are given: pools that are joined by model names have one model ID, and a bit stands for a capability, for a
// model name that only some of them serve, or for a length that not all pools take.
type ask struct {
	model   policies.ID // 0: any
	needs   policies.Caps
	line    int32  // at the gateway: one for each set of pools that may serve a request
	refused Reason // None, or why nobody will ever serve it
}

// offers are what the pools offer, in the words of an ask.
type offers struct {
	models []policies.ID // by pool
	caps   []policies.Caps
	limits []int64          // ascending lengths that some pools do not take beyond, and
	long   []policies.Caps  // what a longer request needs
	names  map[string]named // by model name
	bits   map[string]policies.Caps
	used   int // bits
}

// named is what a request for a model name needs.
type named struct {
	model policies.ID
	needs policies.Caps
}

// offers reads the pools of a stage.
func (s *Stage) offers() (*offers, error) {
	pools := s.cfg.Pools
	o := &offers{caps: make([]policies.Caps, len(pools)), names: map[string]named{}, bits: map[string]policies.Caps{}}
	for i, p := range pools {
		for _, name := range p.Caps {
			o.caps[i] |= o.bit(capability(name))
		}
	}
	o.join(pools)
	o.measure(s.pools)
	if o.used > 64 {
		return nil, errTooDifferent
	}
	return o, o.check(&s.cfg)
}

var errTooDifferent = errors.New("the pools differ in more than 64 ways: capabilities, sets of pools that share a model name, lengths that they take")

func capability(name string) string { return "capability " + name }

// check finds what is asked for and offered by nobody.
func (o *offers) check(c *Config) error {
	if _, ok := o.names[c.DefaultModel]; !ok && c.DefaultModel != "" {
		return fmt.Errorf("default_model is %q, and no pool serves it", c.DefaultModel)
	}
	for i, n := range c.Needs {
		for _, name := range n.Caps {
			if _, ok := o.bits[capability(name)]; !ok {
				return fmt.Errorf("needs %d asks for the capability %q, and no pool has it", i+1, name)
			}
		}
	}
	return nil
}

// bit returns the bit that stands for something, a new one at first.
func (o *offers) bit(what string) policies.Caps {
	if _, ok := o.bits[what]; !ok {
		o.bits[what] = 1 << (o.used % 64)
		o.used++
	}
	return o.bits[what]
}

// join numbers the models. Pools that share a name have one number; a name that not all of those serve needs a bit.
func (o *offers) join(pools []Pool) {
	by := map[string][]int{} // pools by name
	for i, p := range pools {
		o.models = append(o.models, policies.ID(i+1))
		for _, name := range p.serves() {
			if !slices.Contains(by[name], i) {
				by[name] = append(by[name], i)
			}
		}
		for _, name := range p.serves() {
			o.merge(o.models[by[name][0]], o.models[i])
		}
	}
	for _, p := range pools {
		for _, name := range p.serves() {
			o.name(name, by[name])
		}
	}
}

// merge makes two models one.
func (o *offers) merge(to, from policies.ID) {
	for i, id := range o.models {
		if id == from {
			o.models[i] = to
		}
	}
}

func (o *offers) name(name string, who []int) {
	n := named{model: o.models[who[0]]}
	all := 0
	for _, id := range o.models {
		if id == n.model {
			all++
		}
	}
	if len(who) < all {
		n.needs = o.bit(fmt.Sprint("pools ", who))
		for _, i := range who {
			o.caps[i] |= n.needs
		}
	}
	o.names[name] = n
}

// measure gives the pools that take long requests the bits of those.
func (o *offers) measure(pools []ready) {
	for i := range pools {
		o.limits = append(o.limits, pools[i].limit())
	}
	slices.Sort(o.limits)
	o.limits = slices.Compact(o.limits)
	o.limits = o.limits[:len(o.limits)-1] // beyond the last nobody serves anyway
	for _, least := range o.limits {
		bit := o.bit(fmt.Sprint("longer than ", least))
		o.long = append(o.long, bit)
		for i := range pools {
			if pools[i].limit() > least {
				o.caps[i] |= bit
			}
		}
	}
}

// by says whether replicas of the pool may serve the request.
func (a ask) by(p *ready) bool {
	return a.refused == None && (a.model == 0 || a.model == p.model) && p.caps&a.needs == a.needs
}

// ask returns what a request asks of the pools.
func (s *Stage) ask(o *offers, row int) ask {
	name := s.asked(row)
	n, ok := o.names[name]
	if !ok && name != "" {
		return ask{refused: NoReplica}
	}
	a := ask{model: n.model, needs: n.needs}
	for i := range s.cfg.Needs {
		if need := &s.cfg.Needs[i]; s.matches(need, row, name) {
			for _, c := range need.Caps {
				a.needs |= o.bits[capability(c)]
			}
		}
	}
	tokens := s.tokens(row)
	a.refused = s.nobody(a, tokens)
	for i, least := range o.limits {
		if tokens > least {
			a.needs |= o.long[i]
		}
	}
	return a
}

// asked returns the model name that a request asks for, "" if it may go anywhere.
func (s *Stage) asked(row int) string {
	if name := s.trace.Strings[s.trace.Model[row]]; name != "" {
		return name
	}
	return s.cfg.DefaultModel
}

// tokens is the length of a request that a replica has to take: prompt + output, which stands for what a server reckons
// with when a request says its max_tokens.
func (s *Stage) tokens(row int) int64 {
	return int64(s.trace.Prompt[row]) + int64(max(1, s.trace.Output[row]))
}

func (s *Stage) matches(n *Need, row int, model string) bool {
	t := s.trace
	return (n.Model == "" || n.Model == model) && (n.Tenant == "" || n.Tenant == t.Strings[t.Tenant[row]]) &&
		(n.SLO == "" || n.SLO == t.Strings[t.SLO[row]]) && int(t.Prompt[row]) >= n.MinPrompt
}

// nobody says why no pool will ever serve a request: none is capable of it, or it is too long for all that are, in the
// words of the one that takes the longest.
func (s *Stage) nobody(a ask, tokens int64) Reason {
	reason, most := NoReplica, int64(-1)
	for i := range s.pools {
		if p := &s.pools[i]; a.by(p) && p.limit() > most {
			reason, most = p.refuses(tokens), p.limit()
		}
	}
	return reason
}

// queue gives each request its line and returns how many there are.
func (s *Stage) queue() int {
	byAsk, byPools := map[ask]int32{}, map[string]int32{}
	who := make([]byte, len(s.pools))
	for row := range s.asks {
		a := &s.asks[row]
		line, ok := byAsk[*a]
		if !ok {
			for i := range s.pools {
				who[i] = choose(a.by(&s.pools[i]), byte(1), 0)
			}
			if line, ok = byPools[string(who)]; !ok {
				line = int32(len(byPools))
				byPools[string(who)] = line
			}
			byAsk[*a] = line
		}
		a.line = line
	}
	return len(byPools)
}

// unserved says which requests no pool serves.
func (s *Stage) unserved(o *offers) []string {
	var names []string
	count := map[string]int{}
	total, incapable := 0, 0
	for row, a := range s.asks {
		if a.refused != NoReplica {
			continue
		}
		name := s.asked(row)
		if _, ok := o.names[name]; ok || name == "" {
			incapable++
			continue
		}
		if count[name] == 0 {
			names = append(names, name)
		}
		count[name]++
		total++
	}
	var w []string
	if total > 0 {
		slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
		for i, name := range names {
			names[i] = fmt.Sprintf("%s (%d)", name, count[name])
		}
		w = append(w, fmt.Sprintf("%d of %d requests ask for a model that no pool serves and fail with 503: %s; serves says what else a pool is called",
			total, s.cfg.Limit, few(names)))
	}
	if incapable > 0 {
		w = append(w, fmt.Sprintf("%d of %d requests need capabilities that no pool of their model has, and fail with 503", incapable, s.cfg.Limit))
	}
	return w
}

// few joins the first names of a list.
func few(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
