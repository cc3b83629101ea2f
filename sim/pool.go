package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/traces"
)

// Pool is a number of equal replicas. Its fields mean what those of the same name in Config mean.
type Pool struct {
	Name        string // its replicas are NAME-0, NAME-1, ...; one that is alone needs none: r0, r1, ...
	Replicas    int
	Model       string
	ModelConfig *ModelConfig
	GPU         string
	TP          int
	KVTokens    int64
	GPUUtil     float64
	Cost        string
	CostFile    *CostFile
	CostScale   float64

	Engine         engine.Config
	BlocksOverride int

	Serves []string // model names that requests may ask for; empty: the model's own
	Caps   []string // capabilities

	Note CostNote // of its step times; filled in by Prepare
}

// Need is a rule: requests that match all that is given need the capabilities.
type Need struct {
	Model, Tenant, SLO string // equal to the request's; "" is any
	MinPrompt          int    // prompt tokens at least
	Caps               []string
}

// Pool returns the pool that the fields of c make, Pools aside.
func (c Config) Pool(name string) Pool {
	return Pool{Name: name, Replicas: c.Replicas, Model: c.Model, ModelConfig: c.ModelConfig, GPU: c.GPU, TP: c.TP,
		KVTokens: c.KVTokens, GPUUtil: c.GPUUtil, Cost: c.Cost, CostFile: c.CostFile, CostScale: c.CostScale, Engine: c.Engine, BlocksOverride: c.BlocksOverride}
}

// In returns c with the fields of the pool for its own and without pools.
func (p Pool) In(c Config) Config {
	c.Replicas, c.Model, c.ModelConfig, c.GPU, c.TP = p.Replicas, p.Model, p.ModelConfig, p.GPU, p.TP
	c.KVTokens, c.GPUUtil = p.KVTokens, p.GPUUtil
	c.Cost, c.CostFile, c.CostScale = p.Cost, p.CostFile, p.CostScale
	c.Engine, c.BlocksOverride = p.Engine, p.BlocksOverride
	c.Pools, c.DefaultModel, c.Needs = nil, "", nil
	return c
}

// ReplicaNames returns the names of the pool's replicas.
func (p Pool) ReplicaNames() []string {
	prefix := "r"
	if p.Name != "" {
		prefix = p.Name + "-"
	}
	names := make([]string, p.Replicas)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return names
}

// serves returns the model names that requests may ask the pool for.
func (p Pool) serves() []string {
	if len(p.Serves) > 0 {
		return p.Serves
	}
	return []string{p.Model}
}

// checkPools says what is wrong with the pools, but for what depends on models and GPUs.
func (c Config) checkPools() error {
	if err := Default().Pool("").In(c).Check(); err != nil { // all but the pools
		return err
	}
	total := 0
	for i, p := range c.Pools {
		if p.Name == "" && len(c.Pools) > 1 {
			return fmt.Errorf("pool %d has no name; of several pools each needs one", i+1)
		}
		if err := p.In(c).Check(); err != nil {
			return p.wrap(err)
		}
		if slices.ContainsFunc(c.Pools[:i], func(other Pool) bool { return other.Name == p.Name }) {
			return fmt.Errorf("two pools are called %q", p.Name)
		}
		total += p.Replicas
	}
	if total > mostReplicas {
		return fmt.Errorf("the pools have %d replicas, want at most %d", total, mostReplicas)
	}
	return nil
}

// wrap names the pool in an error about it.
func (p Pool) wrap(err error) error {
	if p.Name == "" {
		return err
	}
	return fmt.Errorf("pool %s: %w", p.Name, err)
}

// Resolve checks a configuration and fills in every default, as Prepare does. The result has pools, if only one without a
// name.
func (c Config) Resolve() (Config, error) {
	if len(c.Pools) == 0 {
		c.Pools = []Pool{c.Pool("")}
	}
	if err := c.Check(); err != nil {
		return c, err
	}
	s := &Stage{cfg: c, trace: &traces.Trace{}}
	if err := s.furnish(); err != nil {
		return c, err
	}
	if _, err := s.offers(); err != nil {
		return s.cfg, err
	}
	s.man()
	return s.cfg, s.schedule()
}

// PrefixBlock returns the tokens at whose multiples a router may cut a prefix: the largest block size of the pools.
func (c Config) PrefixBlock() int {
	size := c.Engine.BlockSize
	for _, p := range c.Pools {
		size = max(size, p.Engine.BlockSize)
	}
	return size
}

// ready is a pool with all that its replicas share.
type ready struct {
	*hardware
	layout *engine.Layout
	index  int  // in Config.Pools; 0 without
	named  Pool // every default filled in
	model  policies.ID
	caps   policies.Caps
}

// limit returns the longest prompt + output that a replica takes, in tokens: what engine.Engine.Refuse goes by.
func (r *ready) limit() int64 {
	e := &r.cfg.Engine
	room := int64(e.KVBlocks)*int64(e.BlockSize) + 1 // the last token needs no place
	if e.MaxModelLen > 0 {
		return min(room, int64(e.MaxModelLen))
	}
	return room
}

// refuses says why a replica does not take so many tokens; None if it does.
func (r *ready) refuses(tokens int64) Reason {
	switch e := &r.cfg.Engine; {
	case tokens <= r.limit():
		return None
	case e.MaxModelLen > 0 && tokens > int64(e.MaxModelLen):
		return TooLong
	}
	return NeverFits
}

// furnish makes the pools ready and fills in every default of s.cfg.
func (s *Stage) furnish() error {
	pools := s.cfg.Pools
	if len(pools) == 0 {
		pools = []Pool{s.cfg.Pool("")}
	}
	f := s.forest()
	layouts := map[int]*engine.Layout{}
	for i, p := range pools {
		hw, err := p.In(s.cfg).hardware()
		if err != nil {
			return p.wrap(err)
		}
		block := hw.cfg.Engine.BlockSize
		if layouts[block] == nil {
			layouts[block] = engine.NewLayout(f, block)
		}
		q := hw.cfg.Pool(p.Name)
		q.Serves, q.Caps, q.Note = p.Serves, p.Caps, hw.note
		q.Serves = q.serves()
		s.pools = append(s.pools, ready{hw, layouts[block], i, q, 0, 0})
	}
	s.summarise()
	return nil
}

// summarise fills in the stage's configuration: that of its only pool, or of the first with the replicas of all.
func (s *Stage) summarise() {
	c := s.cfg
	s.cfg, s.note = s.pools[0].cfg, s.pools[0].note
	if len(c.Pools) == 0 {
		return
	}
	s.cfg.DefaultModel, s.cfg.Needs, s.cfg.Replicas = c.DefaultModel, c.Needs, 0
	for i := range s.pools {
		p := s.pools[i].named
		s.cfg.Pools = append(s.cfg.Pools, p)
		s.cfg.Replicas += p.Replicas
	}
	s.note = noteOf(s.cfg.Pools)
}

// tooShort is the warning that the pool serves requests that are longer than its model was made for.
func (r *ready) tooShort(long, of int) string {
	if r.named.Name == "" {
		return fmt.Sprintf("%d of %d requests are longer than the %d tokens %s was made for, and are served all the same; max-model-len rejects them",
			long, of, r.context, r.cfg.Model)
	}
	return fmt.Sprintf("%d of %d requests are longer than the %d tokens that %s was made for; pool %s takes them all the same where it serves them: its max_model_len would not",
		long, of, r.context, r.cfg.Model, r.named.Name)
}

// noteOf says how far to trust step times of all pools: each pool's words once.
func noteOf(pools []Pool) CostNote {
	n := pools[0].Note
	var parts []string
	var names [][]string
	for _, p := range pools {
		n.Calibrated = n.Calibrated && p.Note.Calibrated
		if p.Note.Model != n.Model {
			n.Model = "several"
		}
		if i := len(parts) - 1; i >= 0 && parts[i] == p.Note.Note {
			names[i] = append(names[i], p.Name)
			continue
		}
		parts, names = append(parts, p.Note.Note), append(names, []string{p.Name})
	}
	if len(parts) == 1 {
		return n
	}
	for i, who := range names {
		parts[i] = strings.Join(who, ", ") + ": " + parts[i]
	}
	n.Note = strings.Join(parts, "; ")
	return n
}
