package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml/token"
	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/sim"
)

// configFlag is the flag for a cluster file. Other flags go before what it says.
type configFlag struct{ file string }

func (c *configFlag) bind(f *pflag.FlagSet) {
	f.Var(path{&c.file}, "config", "cluster `FILE`: pools of replicas, gateway, faults; see triage config. Other flags go before it")
}

// apply reads the file, if one is given, into cfg, which has the values of the flags.
func (c *configFlag) apply(flags *pflag.FlagSet, cfg *sim.Config) error {
	if c.file == "" {
		return nil
	}
	f, err := readCluster(c.file)
	if err != nil {
		return err
	}
	return f.into(cfg, given(flags))
}

// given returns the flags that the command line has.
func given(flags *pflag.FlagSet) map[string]string {
	out := map[string]string{}
	flags.Visit(func(f *pflag.Flag) { out[f.Name] = f.Value.String() })
	return out
}

// into sets in cfg what the file says and no flag says.
func (f *clusterFile) into(cfg *sim.Config, flags map[string]string) error {
	if err := f.set(fileFlags(cfg), f.rest, flags); err != nil {
		return err
	}
	if err := f.overridable(flags); err != nil {
		return err
	}
	for _, d := range f.needs {
		cfg.Needs = append(cfg.Needs, d.Need)
	}
	if _, given := flags["rate-limit"]; !given {
		cfg.Gateway.Limits = f.limits
	}
	if _, given := flags["class"]; !given {
		cfg.Gateway.Classes = f.classes
	}
	for _, d := range f.faults {
		cfg.Faults = append(cfg.Faults, d.Fault)
	}
	if len(f.pools) == 0 {
		own := fileFlags(cfg)
		for _, s := range []settings{f.defaults, f.engine} {
			if err := f.set(own, s, flags); err != nil {
				return err
			}
		}
	}
	for i := range f.pools {
		p, err := f.build(&f.pools[i], flags)
		if err != nil {
			return err
		}
		cfg.Pools = append(cfg.Pools, p)
	}
	return f.check(cfg, flags)
}

// set gives settings to their flags, but those for which the command line has a value.
func (f *clusterFile) set(to *pflag.FlagSet, all settings, flags map[string]string) error {
	for name := range flags {
		if v := to.Lookup(name); v != nil {
			v.Changed = true
		}
	}
	for _, s := range all {
		_, given := flags[s.flag]
		_, other := flags[strings.ReplaceAll(rivals[s.name], "_", "-")]
		if given || other && capacity[s.name] {
			continue
		}
		if err := f.give(to, s); err != nil {
			return err
		}
	}
	return nil
}

// give gives one setting to its flag.
func (f *clusterFile) give(to *pflag.FlagSet, s setting) error {
	v := to.Lookup(s.flag)
	text := s.text
	if s.name == "model_config" && !filepath.IsAbs(text) {
		text = filepath.Join(filepath.Dir(f.name), text)
	}
	if err := v.Value.Set(text); err != nil {
		return f.at(s.at, valueError(s.what, s.text, v, err))
	}
	v.Changed = true
	return nil
}

// overridable refuses flags of which it is not clear which pools they are for: of several pools one says its own.
func (f *clusterFile) overridable(flags map[string]string) error {
	if len(f.pools) < 2 {
		return nil
	}
	for _, k := range keysOfPools() {
		if _, given := flags[k.flag]; !given {
			continue
		}
		var own []string
		for i := range f.pools {
			if p := &f.pools[i]; p.says(k.name) != nil || p.says(rivals[k.name]) != nil {
				own = append(own, p.name)
			}
		}
		if len(own) > 0 {
			return fmt.Errorf("--%s is ambiguous: in %s %s its own; change it there, or leave it to defaults or engine, which flags override",
				k.flag, f.name, saying(own))
		}
	}
	return nil
}

func saying(pools []string) string {
	if len(pools) == 1 {
		return "pool " + pools[0] + " says"
	}
	return "each of the pools " + strings.Join(pools, ", ") + " says"
}

// build makes a pool: what it says itself, else flags, else defaults and engine. Of a pool that is alone, flags go before
// what it says, too.
func (f *clusterFile) build(p *poolFile, flags map[string]string) (sim.Pool, error) {
	cfg := sim.Default()
	to := fileFlags(&cfg)
	for _, s := range append(append(append(p.shared(f.defaults), f.engine...), p.own...), p.engine...) {
		if err := f.give(to, s); err != nil {
			return sim.Pool{}, err
		}
	}
	for _, k := range keysOfPools() {
		if value, given := flags[k.flag]; given {
			forget(to, rivals[k.name], flags)
			if err := to.Set(k.flag, value); err != nil {
				return sim.Pool{}, err
			}
		}
	}
	pool := cfg.Pool(p.name)
	pool.Serves, pool.Caps = p.serves, p.caps
	if err := checkCluster(cfg); err != nil {
		return pool, f.blame(p, err)
	}
	return pool, nil
}

// shared returns the defaults that stand for the pool: not those whose rival it gives itself.
func (p *poolFile) shared(defaults settings) settings {
	var out settings
	for _, s := range defaults {
		if p.says(rivals[s.name]) == nil {
			out = append(out, s)
		}
	}
	return out
}

// forget makes the file's rival of a flag count for nothing, unless it is given as a flag, too. A model_config stays: a
// model beside it is what to call it.
func forget(to *pflag.FlagSet, rival string, flags map[string]string) {
	for _, k := range poolKeys {
		if _, given := flags[k.flag]; k.name != rival || given || rival == "model_config" {
			continue
		}
		v := to.Lookup(k.flag)
		v.Changed = false
		if capacity[rival] {
			v.Value.Set("0")
		}
	}
}

// capacity has the keys that give the KV capacity.
var capacity = map[string]bool{"kv_tokens": true, "num_gpu_blocks_override": true}

// blame puts the place before an error about a pool: that of the setting which it names, or of the pool.
func (f *clusterFile) blame(p *poolFile, err error) error {
	text, at := err.Error(), p.at
	for _, name := range []string{"model", "gpu"} {
		if s := f.said(p, name); s != nil && strings.HasPrefix(text, "unknown "+name+" ") {
			at = s.at
		}
	}
	for _, k := range keysOfPools() {
		text = strings.ReplaceAll(text, "--"+k.flag+" ", k.name+" ")
		if !strings.HasPrefix(text, k.flag+" is ") && !strings.HasPrefix(text, k.name+" is ") {
			continue
		}
		text = strings.Replace(text, k.flag, k.name, 1)
		if s := f.said(p, k.name); s != nil {
			at = s.at
		}
	}
	return f.at(at, fmt.Errorf("pool %s: %s", p.name, text))
}

// said returns the setting that a pool has from anywhere in the file.
func (f *clusterFile) said(p *poolFile, name string) *setting {
	for _, all := range []settings{p.engine, p.own, f.engine, f.defaults} {
		if s := all.get(name); s != nil {
			return s
		}
	}
	return nil
}

// check finds what does not fit together.
func (f *clusterFile) check(cfg *sim.Config, flags map[string]string) error {
	healthy := *cfg
	healthy.Faults = nil // their replicas are looked for among the names, which exist once the counts are right
	err := healthy.Check()
	if err == nil && len(f.pools) == 0 {
		err = checkEngine(cfg.Engine)
	}
	if err != nil {
		return f.where(err, flags)
	}
	names := cfg.Pool("").ReplicaNames()
	for i, p := range cfg.Pools {
		if i == 0 {
			names = nil
		}
		names = append(names, p.ReplicaNames()...)
	}
	for _, d := range f.faults {
		if err := known(names, d.Replica); err != nil {
			return f.at(d.replica, err)
		}
	}
	if _, err := cfg.Resolve(); err != nil {
		return f.where(err, flags)
	}
	return nil
}

// known is the error for a replica that is not there.
func known(names []string, name string) error {
	for _, n := range names {
		if n == name {
			return nil
		}
	}
	if near := nearest(name, names); near != "" {
		return fmt.Errorf("unknown replica %q (have %s; did you mean %q?)", name, ends(names), near)
	}
	return fmt.Errorf("unknown replica %q (have %s)", name, ends(names))
}

// ends names a list by its ends if it is long.
func ends(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most/2], ", ") + ", ..., " + names[len(names)-1]
}

// where puts the place before an error about the whole cluster, as far as it has one.
func (f *clusterFile) where(err error, flags map[string]string) error {
	text := err.Error()
	at := func(t *token.Token) error { return f.at(t, err) }
	for _, s := range f.rest {
		for _, name := range []string{s.name, s.flag} {
			if rest, ok := strings.CutPrefix(text, name+" "); ok {
				return f.at(s.at, fmt.Errorf("%s %s", s.what, rest))
			}
		}
	}
	for i, d := range f.faults {
		life := strings.HasPrefix(text, "faults: "+d.Replica+" ") && strings.HasSuffix(text, fmt.Sprintf(" at %v", d.At))
		if life || strings.HasPrefix(text, fmt.Sprintf("faults[%d]", i)) {
			return at(d.at)
		}
	}
	for i, d := range f.needs {
		if strings.HasPrefix(text, fmt.Sprintf("needs %d ", i+1)) {
			return f.at(d.at, errors.New(strings.Replace(text, fmt.Sprintf("needs %d ", i+1), fmt.Sprintf("needs[%d] ", i), 1)))
		}
	}
	for _, p := range f.pools {
		if strings.HasPrefix(text, "pool "+p.name+": ") {
			return at(p.at)
		}
	}
	return f.whereShared(err, flags)
}

// whereShared puts the place before an error about replicas that are all equal: that of the setting which it names, if no
// flag has replaced it.
func (f *clusterFile) whereShared(err error, flags map[string]string) error {
	for _, s := range append(append(settings{}, f.engine...), f.defaults...) {
		_, given := flags[s.flag]
		if text := strings.TrimPrefix(err.Error(), "unknown "); given || len(f.pools) > 0 || !strings.HasPrefix(text, s.flag+" ") && !strings.HasPrefix(text, s.name+" ") {
			continue
		}
		return f.at(s.at, errors.New(strings.Replace(err.Error(), s.flag, s.name, 1)))
	}
	return fmt.Errorf("%s: %w", f.name, err)
}
