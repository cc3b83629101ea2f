package policies

// Entry describes a policy of the catalog.
type Entry struct {
	Name  string
	Doc   string // what it is for, one line
	Knobs []Knob

	check func(values []string) ([]string, error) // in the order of Knobs; returns them in canonical form
	build func(values []string) Policy
}

// catalog has one row a policy, baselines first.
var catalog = []Entry{
	row("round-robin", "every capable replica in turn: the baseline", none,
		func(struct{}) Policy { return &RoundRobin{} }, nil),
	row("random", "a capable replica by a hash of the request", Random{},
		func(c Random) Policy { return &c }, randomKnobs),
	row("least-request", "fewest requests in flight in the router's own book", none,
		func(struct{}) Policy { return &LeastRequest{} }, nil),
	row("score", "hard filters, then a weighted sum of prefix affinity, queue, KV pressure, adapter and load", DefaultScore(),
		func(c ScoreConfig) Policy { return NewScore(c) }, scoreKnobs()),
}

var none struct{}

var randomKnobs = []field[Random]{
	{name: "seed", doc: "another seed, other choices", at: func(c *Random) any { return &c.Seed }},
}

// Catalog lists the policies with their knobs. The caller must not change it.
func Catalog() []Entry { return catalog }

// row makes an entry: def holds the defaults, build makes the policy from the settings, fields are the knobs.
func row[C any](name, doc string, def C, build func(C) Policy, fields []field[C]) Entry {
	e := Entry{Name: name, Doc: doc}
	for i := range fields {
		e.Knobs = append(e.Knobs, fields[i].knob(def))
	}
	fill := func(values []string) (C, error) {
		c := def
		for i := range fields {
			if err := fields[i].set(&c, values[i]); err != nil {
				return c, err
			}
		}
		return c, nil
	}
	e.check = func(values []string) ([]string, error) {
		c, err := fill(values)
		canonical := make([]string, len(values))
		for i := range fields {
			canonical[i] = show(fields[i].at(&c))
		}
		return canonical, err
	}
	e.build = func(values []string) Policy {
		c, err := fill(values)
		if err != nil {
			panic("policies: a checked value is refused: " + err.Error())
		}
		return build(c)
	}
	return e
}
