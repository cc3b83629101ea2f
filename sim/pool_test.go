package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/traces"
)

var (
	modelNames = []string{"a", "b", "c"}
	capNames   = []string{"x", "y"}
)

// anyPools draws a cluster of several small pools.
func anyPools(t *rapid.T) Config {
	cfg, _ := anyCase(t)
	some := func(names []string, label string) (out []string) {
		for _, n := range names {
			if rapid.Bool().Draw(t, label+" "+n) {
				out = append(out, n)
			}
		}
		return out
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "pools") {
		p := cfg.Pool(string(rune('p' + i)))
		p.Replicas = rapid.IntRange(1, 2).Draw(t, "replicas")
		p.BlocksOverride = rapid.IntRange(4, 40).Draw(t, "blocks")
		p.Engine.BlockSize = rapid.SampledFrom([]int{8, 16, 24}).Draw(t, "block size")
		p.Engine.MaxModelLen = rapid.SampledFrom([]int{0, 0, 40, 100}).Draw(t, "max len")
		p.Serves, p.Caps = some(modelNames, "serves"), some(capNames, "cap")
		cfg.Pools = append(cfg.Pools, p)
	}
	for _, p := range cfg.Pools {
		for _, c := range p.Caps {
			if rapid.Bool().Draw(t, "a need") {
				cfg.Needs = append(cfg.Needs, Need{Tenant: rapid.SampledFrom([]string{"", "gold"}).Draw(t, "tenant"),
					Model: rapid.SampledFrom([]string{"", "a"}).Draw(t, "of"), MinPrompt: rapid.IntRange(0, 100).Draw(t, "at least"), Caps: []string{c}})
			}
		}
	}
	if d := cfg.Pools[0].Serves; len(d) > 0 && rapid.Bool().Draw(t, "default") {
		cfg.DefaultModel = d[0]
	}
	cfg.OnCrash = rapid.SampledFrom([]OnCrash{Resend, GiveUp}).Draw(t, "on crash")
	cfg.Detect = rapid.SampledFrom([]time.Duration{0, 5 * time.Millisecond}).Draw(t, "detect")
	for _, p := range cfg.Pools { // a crash in some pools: what is sent again must find its way, too
		if rapid.Bool().Draw(t, "crash") {
			at := time.Duration(rapid.IntRange(0, 60).Draw(t, "ms")) * time.Millisecond
			cfg.Faults = append(cfg.Faults, Fault{At: at, Replica: p.ReplicaNames()[0], Do: Crash},
				Fault{At: at + 20*time.Millisecond, Replica: p.ReplicaNames()[0], Do: Restart})
		}
	}
	return cfg
}

// mayServe says by the words of the configuration whether a pool may serve a request but for its length, and by those of an
// engine whether it takes it.
func mayServe(t *rapid.T, cfg *Config, p *Pool, tr *traces.Trace, row int) (capable, takes bool) {
	name := tr.Strings[tr.Model[row]]
	if name == "" {
		name = cfg.DefaultModel
	}
	capable = name == "" || slices.Contains(p.Serves, name)
	for _, n := range cfg.Needs {
		if (n.Tenant == "" || n.Tenant == tr.Strings[tr.Tenant[row]]) && (n.Model == "" || n.Model == name) && int(tr.Prompt[row]) >= n.MinPrompt {
			for _, c := range n.Caps {
				capable = capable && slices.Contains(p.Caps, c)
			}
		}
	}
	e, err := engine.New(p.Engine, engine.Unit{}, engine.NewLayout(&engine.Forest{}, p.Engine.BlockSize))
	if err != nil {
		t.Fatal(err)
	}
	return capable, e.Refuse(engine.Sequence{Prompt: tr.Prompt[row], Output: tr.Output[row]}) == engine.Accepted
}

// No request ever reaches a replica that does not serve its model, lacks what it needs or is too small for it, whatever the
// policy; one that no pool serves fails at once and says why, and no other does.
func TestRequestsGoOnlyWhereTheyCanBeServed(t *testing.T) {
	policyNames := []string{"score:fit=off", "score:prefix=oracle", "score:prefix=bucket,n=16,k=1", "score:norm=absolute,sent=off"}
	for _, e := range policies.Catalog() {
		policyNames = append(policyNames, e.Name)
	}
	rapid.Check(t, func(t *rapid.T) {
		cfg := anyPools(t)
		tr := anyTraceOf(t, func(r *traces.Record) {
			r.Model = rapid.SampledFrom([]string{"", "a", "b", "c", "d"}).Draw(t, "model")
			r.Tenant = rapid.SampledFrom([]string{"", "gold"}).Draw(t, "tenant")
		})
		r := mustRun(t, cfg, rapid.SampledFrom(policyNames).Draw(t, "policy"), tr)
		checkLaws(t, r)
		for row := range r.Outcomes {
			checkServed(t, r, row)
		}
	})
}

func checkServed(t *rapid.T, r *Result, row int) {
	o := &r.Outcomes[row]
	capable, taken := false, false
	for i := range r.Config.Pools {
		can, takes := mayServe(t, &r.Config, &r.Config.Pools[i], r.Trace, row)
		capable, taken = capable || can, taken || can && takes
		if o.Replica >= 0 && r.Replicas[o.Replica].Pool == i && !(can && takes) {
			t.Fatalf("row %d of model %q went to %s of pool %+v", row, r.Trace.Strings[r.Trace.Model[row]], r.Replicas[o.Replica].Name, r.Config.Pools[i])
		}
	}
	want := None
	switch {
	case !capable:
		want = NoReplica
	case !taken:
		want = TooLong
	}
	got := o.Reason
	switch {
	case want == None && slices.Contains([]Reason{NoReplica, TooLong, NeverFits}, got):
		t.Fatalf("row %d is refused with %s, and a pool serves it", row, got)
	case want == NoReplica && got != NoReplica:
		t.Fatalf("row %d has reason %q, want no_replica", row, got)
	case want == TooLong && got != TooLong && got != NeverFits:
		t.Fatalf("row %d has reason %q, want too_long or never_fits", row, got)
	case want != None && o.Finished != o.Arrived:
		t.Fatalf("row %d, which nobody serves, was refused %v after it arrived", row, o.Finished-o.Arrived)
	}
}

// One pool of the same settings does as the cluster without pools.
func TestPoolsOfOneKindAreOneCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, tr := anyCase(t)
		policy := anyPolicy(t)
		plain := mustRun(t, cfg, policy, tr)
		cfg.Pools = []Pool{cfg.Pool("")}
		pooled := mustRun(t, cfg, policy, tr)
		if diff := sameRun(plain, pooled); diff != "" {
			t.Fatalf("%s (-fields +pool):\n%s", policy, diff)
		}
		if plain.Config.Replicas != pooled.Config.Replicas || plain.Config.KVTokens != pooled.Config.KVTokens {
			t.Fatalf("configurations differ: %+v and %+v", plain.Config, pooled.Config)
		}
	})
}

func TestPoolsThatCannotBe(t *testing.T) {
	tr := fromText(t, `{"timestamp":0,"input_length":16,"output_length":1,"hash_ids":[1]}`)
	for _, c := range []struct {
		name, want string
		set        func(*Config)
	}{
		{"the same name twice", `two pools are called "a"`, func(c *Config) { c.Pools[1].Name = "a" }},
		{"no name", "pool 2 has no name", func(c *Config) { c.Pools[1].Name = "" }},
		{"no replicas", "pool b: replicas is 0", func(c *Config) { c.Pools[1].Replicas = 0 }},
		{"too many replicas", "the pools have 4097 replicas", func(c *Config) { c.Pools[0].Replicas, c.Pools[1].Replicas = 4096, 1 }},
		{"a model that is not known", `pool b: unknown model "nope"`, func(c *Config) { c.Pools[1].Model = "nope" }},
		{"a default that nobody serves", `default_model is "x", and no pool serves it`, func(c *Config) { c.DefaultModel = "x" }},
		{"a need that nobody has", `needs 1 asks for the capability "fast", and no pool has it`, func(c *Config) { c.Needs = []Need{{Caps: []string{"fast"}}} }},
		{"too many capabilities", "more than 64 ways", func(c *Config) {
			for i := range 65 {
				c.Pools[0].Caps = append(c.Pools[0].Caps, string(rune('0'+i)))
			}
		}},
	} {
		cfg := small()
		cfg.Pools = []Pool{cfg.Pool("a"), cfg.Pool("b")}
		c.set(&cfg)
		if _, err := Prepare(cfg, tr); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// Whoever nobody serves is named, the model with the most requests first.
func TestUnservedModelsAreNamed(t *testing.T) {
	lines := ""
	for _, m := range []string{"x", "y", "y", "small", ""} {
		lines += `{"timestamp":0,"input_length":16,"output_length":1,"hash_ids":[1],"model":"` + m + "\"}\n"
	}
	cfg := small()
	cfg.Pools = []Pool{cfg.Pool("a")}
	cfg.Pools[0].Serves = []string{"small"}
	r, err := Run(cfg, spec(t, "score"), fromText(t, lines))
	if err != nil {
		t.Fatal(err)
	}
	checkLaws(t, r)
	want := "3 of 5 requests ask for a model that no pool serves and fail with 503: y (2), x (1)"
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.HasPrefix(w, want) }) {
		t.Errorf("warnings %q, want one that says %q", r.Warnings, want)
	}
}
