package traces

import (
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	// maxTokens bounds a prompt and an output. Longer ones are errors in a file.
	maxTokens = 100_000_000
	// maxArrival bounds an arrival. Simulated time ends soon after, at 53 days; the rest is left to the last answers.
	maxDays    = 50
	maxArrival = maxDays * 24 * time.Hour
)

// limitHint is what to do about a trace beyond maxArrival: times are read before anything is made of them.
const limitHint = "--speed cannot help: cut the trace"

// Builder makes a Trace of Records. Records come in any order.
type Builder struct {
	t      *Trace
	forest *radix
	names  interner
	scopes map[scope]int32
	rebase bool // arrivals are on a wall clock: a negative one moves its zero

	sorted   bool
	zeros    int // requests with output 0
	unknown  int // requests without identity
	tailLine int64
	notes    []string
}

// scope is what a root of the forest belongs to: requests in different scopes share nothing.
type scope struct{ model, adapter, owner int32 }

// NewBuilder returns a Builder. Meta.BlockSize must be set before a record with blocks; Meta.BlockTail may be left
// empty, and is then inferred from the records.
func NewBuilder(meta Meta) *Builder {
	return &Builder{
		t:      &Trace{Meta: meta, extra: newColumns()},
		forest: newRadix(meta.BlockSize),
		names:  newInterner(),
		scopes: map[scope]int32{},
		sorted: true,
	}
}

// Grow makes room for n more records, which saves copying. It is never needed.
func (b *Builder) Grow(n int) {
	t := b.t
	t.ArrivalNs, t.Line = slices.Grow(t.ArrivalNs, n), slices.Grow(t.Line, n)
	for _, c := range t.int32Columns() {
		*c = slices.Grow(*c, n)
	}
}

// Add adds a record. It keeps nothing of r.Blocks.
func (b *Builder) Add(r Record) error {
	if err := b.check(&r); err != nil {
		return err
	}
	t, row := b.t, b.t.Len()
	if row > 0 && (r.ArrivalNs < t.ArrivalNs[row-1] || r.ArrivalNs == t.ArrivalNs[row-1] && r.Line < t.Line[row-1]) {
		b.sorted = false
	}
	if r.OutputTokens == 0 {
		r.OutputTokens = 1
		b.zeros++
	}
	if r.Blocks == nil {
		b.unknown++
	}
	t.ArrivalNs = append(t.ArrivalNs, r.ArrivalNs)
	t.Line = append(t.Line, r.Line)
	t.Prompt = append(t.Prompt, r.PromptTokens)
	t.Output = append(t.Output, r.OutputTokens)
	t.MaxTokens = append(t.MaxTokens, r.MaxTokens)
	t.Model = append(t.Model, b.names.id(r.Model))
	t.Adapter = append(t.Adapter, b.names.id(r.Adapter))
	t.Tenant = append(t.Tenant, b.names.id(r.Tenant))
	t.Session = append(t.Session, b.names.id(r.Session))
	t.SLO = append(t.SLO, b.names.id(r.SLO))
	t.PrefixKey = append(t.PrefixKey, b.names.id(r.PrefixKey))
	t.Leaf = append(t.Leaf, b.leaf(row, &r))
	t.extra.put(row, &r)
	return nil
}

// check says what no trace may contain.
func (b *Builder) check(r *Record) error {
	switch {
	case b.t.Len() == math.MaxInt32:
		return fmt.Errorf("more than %d requests", math.MaxInt32)
	case r.ArrivalNs < 0 && !b.rebase:
		return fmt.Errorf("arrival_ns is %d, want at least 0", r.ArrivalNs)
	case time.Duration(r.ArrivalNs) > maxArrival:
		return fmt.Errorf("arrival_ns is %d (%.1f days after time 0), want at most %d (%d days); %s",
			r.ArrivalNs, days(time.Duration(r.ArrivalNs)), maxArrival.Nanoseconds(), maxDays, limitHint)
	case r.ParentRow < Unknown || r.ParentRow >= int64(b.t.Len()):
		return fmt.Errorf("parent_row is %d, want an earlier row (this is row %d)", r.ParentRow, b.t.Len())
	case int(r.Status) >= len(statusNames):
		return fmt.Errorf("status is %d, want at most %d", r.Status, len(statusNames)-1)
	}
	for _, f := range []struct {
		name string
		v    int64
		min  int64
	}{
		{"prompt_tokens", int64(r.PromptTokens), 1},
		{"output_tokens", int64(r.OutputTokens), Unknown},
		{"max_tokens", int64(r.MaxTokens), Unknown},
	} {
		if err := checkTokens(f.name, f.v, f.min); err != nil {
			return err
		}
	}
	return b.checkBlocks(r)
}

func days(d time.Duration) float64 { return d.Hours() / 24 }

// checkTokens bounds a token count. A source that may say "unknown" has a minimum of Unknown.
func checkTokens(field string, v, least int64) error {
	switch {
	case v < least:
		return fmt.Errorf("%s is %d, want at least %d", field, v, max(least, 0))
	case v > maxTokens:
		return fmt.Errorf("%s is %d, want at most %d", field, v, maxTokens)
	}
	return nil
}

// checkBlocks holds the number of blocks against the prompt's length, and all rows to one rule for the tail.
func (b *Builder) checkBlocks(r *Record) error {
	if r.Blocks == nil {
		return nil
	}
	tail, err := tailOf(len(r.Blocks), r.PromptTokens, b.t.Meta.BlockSize)
	if err != nil || tail == "" {
		return err
	}
	m := &b.t.Meta
	if m.BlockTail == "" || m.BlockTail == TailNone {
		m.BlockTail, b.tailLine = tail, r.Line
	}
	if m.BlockTail == tail {
		return nil
	}
	has := map[BlockTail]string{TailCeil: "has an id for the last, partly filled block", TailFloor: "has none"}
	other := "the file's block_tail"
	if b.tailLine > 0 {
		other = fmt.Sprintf("line %d", b.tailLine)
	}
	return fmt.Errorf("%d hash ids for %d tokens in blocks of %d: this row %s, which is %s, but %s says %s; want one rule in a file",
		len(r.Blocks), r.PromptTokens, m.BlockSize, has[tail], tail, other, m.BlockTail)
}

// leaf adds the record's blocks to the forest.
func (b *Builder) leaf(row int, r *Record) int32 {
	if len(r.Blocks) == 0 {
		return -1
	}
	size := b.t.Meta.BlockSize
	tail := min(size, r.PromptTokens-int32(len(r.Blocks)-1)*size)
	s := scope{model: b.t.Model[row], adapter: b.t.Adapter[row]}
	switch b.t.Meta.IdentityScope {
	case "tenant":
		s.owner = b.t.Tenant[row]
	case "session":
		s.owner = b.t.Session[row]
	}
	id, ok := b.scopes[s]
	if !ok {
		id = int32(len(b.scopes))
		b.scopes[s] = id
	}
	return b.forest.add(id, r.Blocks, tail)
}
