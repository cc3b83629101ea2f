package traces

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"
)

// small is a preset cut to a few requests.
func small(t *testing.T, name string) Params {
	t.Helper()
	p, err := PresetByName(name)
	if err != nil {
		t.Fatal(err)
	}
	p.Params.Requests = 1500
	return p.Params
}

func generate(t *testing.T, p Params) *Trace {
	t.Helper()
	tr, err := Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Every preset makes the same bytes twice, others with another seed, in order, and keeps its own bounds.
func TestPresets(t *testing.T) {
	for _, preset := range Presets() {
		p := small(t, preset.Name)
		tr := generate(t, p)
		if !bytes.Equal(write(t, "parquet", tr), write(t, "parquet", generate(t, p))) {
			t.Errorf("%s: made twice, the bytes differ", preset.Name)
		}
		q := p
		q.Seed++
		if generate(t, q).Digest == tr.Digest {
			t.Errorf("%s: another seed makes the same trace", preset.Name)
		}
		if tr.Len() != p.Requests || !slices.IsSorted(tr.ArrivalNs) || len(tr.Notes) != 0 {
			t.Errorf("%s: %d requests, notes %q", preset.Name, tr.Len(), tr.Notes)
		}
		for row, prompt := range tr.Prompt {
			if p.MaxPrompt > 0 && int(prompt) > p.MaxPrompt || int(tr.Output[row]) < p.Output.Min || int(tr.Output[row]) > p.Output.Max {
				t.Fatalf("%s: row %d has %d prompt and %d output tokens", preset.Name, row, prompt, tr.Output[row])
			}
		}
		if tr.Meta.BlockSize != int32(p.BlockSize) || tr.Meta.BlockTail != p.BlockTail {
			t.Errorf("%s: meta %+v", preset.Name, tr.Meta)
		}
	}
}

// A turn's prompt is the prompt before, its answer and new text; its blocks continue those before.
func TestSessionsGrow(t *testing.T) {
	for _, tail := range []BlockTail{TailCeil, TailFloor} {
		p := small(t, "agents")
		p.BlockTail = tail
		tr := generate(t, p)
		last := map[string]Record{}
		turns := 0
		for r := range tr.Records() {
			before, ok := last[r.Session]
			last[r.Session] = r
			if !ok {
				continue
			}
			turns++
			if r.Turn != before.Turn+1 || r.ArrivalNs != before.ArrivalNs+r.ThinkNs || r.Tenant != before.Tenant {
				t.Fatalf("turn %+v follows %+v", r, before)
			}
			if r.PromptTokens <= before.PromptTokens+before.OutputTokens {
				t.Fatalf("a prompt of %d tokens follows one of %d and an answer of %d", r.PromptTokens, before.PromptTokens, before.OutputTokens)
			}
			full := int(before.PromptTokens) / p.BlockSize
			if !slices.Equal(r.Blocks[:full], before.Blocks[:full]) {
				t.Fatalf("blocks %v do not continue %v", r.Blocks, before.Blocks)
			}
		}
		if turns < p.Requests/2 {
			t.Errorf("%d of %d requests are later turns, want most", turns, p.Requests)
		}
	}
}

// Sessions of one tenant share the full blocks of its system prompt and no more; tenants share nothing.
func TestTenantsShare(t *testing.T) {
	p := small(t, "near-capacity")
	p.BlockTail = TailCeil
	p.User = Length{Median: 32, Min: 32, Max: 32} // of a tenant, all prompts are equally long
	tr := generate(t, p)
	byTenant := map[string]Record{}
	first, parts := map[int64]string{}, map[int64]bool{}
	for r := range tr.Records() {
		if owner, ok := first[r.Blocks[0]]; ok && owner != r.Tenant {
			t.Fatalf("tenants %s and %s share block %d", owner, r.Tenant, r.Blocks[0])
		}
		first[r.Blocks[0]] = r.Tenant
		if part := r.Blocks[len(r.Blocks)-1]; int(r.PromptTokens)%p.BlockSize != 0 {
			if parts[part] {
				t.Fatalf("two prompts end with block %d, which is partly filled", part)
			}
			parts[part] = true
		}
		before, ok := byTenant[r.Tenant]
		byTenant[r.Tenant] = r
		if !ok {
			continue
		}
		shared := 0
		for shared < min(len(r.Blocks), len(before.Blocks)) && r.Blocks[shared] == before.Blocks[shared] {
			shared++
		}
		if tokens := shared * p.BlockSize; tokens < p.System.Min-p.BlockSize || tokens > p.System.Max {
			t.Fatalf("tenant %s shares %d tokens, want a system prompt", r.Tenant, tokens)
		}
	}
	if len(byTenant) < p.Tenants*9/10 {
		t.Errorf("%d of %d tenants came", len(byTenant), p.Tenants)
	}
}

// The rate is the asked one, in bursts as without, and bursts are uneven: the number of starts in windows of a burst's
// length varies more than a Poisson process's, whose variance is its mean.
func TestArrivals(t *testing.T) {
	p := Params{
		Seed: 3, Requests: 20000, Rate: 10, Tenants: 1, Turns: 1, BlockSize: 16, BlockTail: TailCeil,
		System: Length{Median: 20, Max: 20}, User: Length{Median: 5, Min: 1, Max: 9}, Output: Length{Median: 5, Min: 1, Max: 9},
	}
	plain := fano(generate(t, p), 10*time.Second, p.Rate, t)
	p.Burst = Burst{Factor: 2.5, On: 20 * time.Second, Off: 40 * time.Second}
	burst := fano(generate(t, p), 10*time.Second, p.Rate, t)
	if plain < 0.8 || plain > 1.2 || burst < 5 {
		t.Errorf("variance over mean is %.2f without bursts and %.2f with; want about 1 and far more", plain, burst)
	}
}

// fano is variance over mean of the arrivals in windows. It also holds the mean rate.
func fano(tr *Trace, window time.Duration, rate float64, t *testing.T) float64 {
	t.Helper()
	span := float64(tr.ArrivalNs[tr.Len()-1]) / 1e9
	if got := float64(tr.Len()) / span; math.Abs(got/rate-1) > 0.15 {
		t.Errorf("%.2f requests per second, want %v", got, rate)
	}
	counts := make([]float64, int(span/window.Seconds()))
	for _, at := range tr.ArrivalNs {
		if i := int(at / window.Nanoseconds()); i < len(counts) {
			counts[i]++
		}
	}
	mean, square := 0.0, 0.0
	for _, c := range counts {
		mean += c / float64(len(counts))
	}
	for _, c := range counts {
		square += (c - mean) * (c - mean) / float64(len(counts))
	}
	return square / mean
}

// The first tenants are the popular ones: with exponent 1, twice the second and three times the third.
func TestSkew(t *testing.T) {
	p := small(t, "near-capacity")
	p.Tenants, p.Skew, p.Requests = 3, 1, 22000
	tr := generate(t, p)
	n := map[string]int{}
	for _, tenant := range tr.Tenant {
		n[tr.Strings[tenant]]++
	}
	for i, name := range []string{"t1", "t2", "t3"} {
		want := 12000 / (i + 1) // 12000 + 6000 + 4000
		if math.Abs(float64(n[name])-float64(want)) > 300 {
			t.Errorf("tenant %s has %d requests, want about %d", name, n[name], want)
		}
	}
}

// The long prompts of near-capacity about fill eight caches of 307,328 tokens together, and many times one alone.
func TestNearCapacity(t *testing.T) {
	total := 0
	for _, tenant := range newGenerator(small(t, "near-capacity")).tenants {
		total += tenant.tokens
	}
	if cluster := 8 * 307328; total < cluster*8/10 || total > cluster*105/100 {
		t.Errorf("the system prompts have %d tokens, want 80 to 105 %% of %d", total, cluster)
	}
}

func TestParamsCheck(t *testing.T) {
	for _, tc := range []struct {
		change func(*Params)
		want   string
	}{
		{func(p *Params) { p.Requests = 0 }, "Requests is 0, want 1 to 50000000"},
		{func(p *Params) { p.Requests = 50_000_001 }, "Requests is 50000001, want 1 to 50000000"},
		{func(p *Params) { p.Rate = math.NaN() }, "Rate is NaN, want 1e-06 to 1000000"},
		{func(p *Params) { p.Tenants = 0 }, "Tenants is 0, want 1 to 1000000"},
		{func(p *Params) { p.Skew = -1 }, "Skew is -1, want 0 to 10"},
		{func(p *Params) { p.Turns = 0.5 }, "Turns is 0.5, want 1 to 1000000"},
		{func(p *Params) { p.BlockSize = 0 }, "BlockSize is 0, want 1 to 1048576"},
		{func(p *Params) { p.BlockTail = "" }, `BlockTail is "", want "ceil" or "floor"`},
		{func(p *Params) { p.User.Min = 0 }, "User.Min is 0, want 1 to 100000000"},
		{func(p *Params) { p.Output.Max = 1 }, "Output.Max is 1, want 4 to 100000000"},
		{func(p *Params) { p.System.Sigma = -1 }, "System.Sigma is -1, want 0 to 10"},
		{func(p *Params) { p.Think.Median = math.Inf(1) }, "Think.Median is +Inf, want 0 to 100000000"},
		{func(p *Params) { p.Burst.Off = 0 }, "Burst.On is 40s and Burst.Off 0s, want more than 0"},
		{func(p *Params) { p.Burst.Factor = 4 }, "Burst.Factor is 4, want 1 to 3 ((On + Off) / On: the low rate would be negative)"},
	} {
		p := small(t, "demo")
		tc.change(&p)
		if _, err := Generate(p); err == nil || err.Error() != tc.want {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
	if _, err := PresetByName("chta"); err == nil || err.Error() != `unknown preset "chta" (have demo, chat, rag, agents, near-capacity; did you mean "chat"?)` {
		t.Error(err)
	}
}
