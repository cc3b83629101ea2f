package traces

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	// maxTokens bounds a prompt and an output. Longer ones are errors in a file.
	maxTokens = 100_000_000
	// maxArrival bounds an arrival. Simulated time ends soon after.
	maxArrival = 100 * 24 * time.Hour
)

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
		return fmt.Errorf("arrival_ns is %d, want at most %d (100 days after time 0)", r.ArrivalNs, maxArrival.Nanoseconds())
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

// Build returns the trace. The Builder is spent afterwards.
func (b *Builder) Build() (*Trace, error) {
	t := b.t
	if t.Len() == 0 {
		return nil, fmt.Errorf("no requests, want at least 1")
	}
	b.sort()
	if err := t.checkParents(); err != nil {
		return nil, err
	}
	b.shift()
	salts := b.salts()
	t.Forest = b.forest.finish(t.Leaf, salts)
	b.forest = nil
	b.rename()
	b.meta()
	t.Digest = digest(t)
	t.Notes = append(b.notes, b.doubts()...)
	return t, nil
}

// sort orders the rows by (arrival, source line).
func (b *Builder) sort() {
	if b.sorted {
		return
	}
	t := b.t
	order := make([]int32, t.Len())
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(i, j int32) int {
		return cmp.Or(cmp.Compare(t.ArrivalNs[i], t.ArrivalNs[j]), cmp.Compare(t.Line[i], t.Line[j]))
	})
	t.ArrivalNs, t.Line = reorder(t.ArrivalNs, order), reorder(t.Line, order)
	for _, c := range t.int32Columns() {
		*c = reorder(*c, order)
	}
	t.extra.permute(order)
}

// checkParents holds that nobody waits for a later request.
func (t *Trace) checkParents() error {
	for row, p := range t.extra.parent.values {
		if p >= int64(row) {
			return fmt.Errorf("the request of line %d waits for that of line %d, which arrives after it", t.Line[row], t.Line[p])
		}
	}
	return nil
}

func (t *Trace) int32Columns() []*[]int32 {
	return []*[]int32{&t.Prompt, &t.Output, &t.MaxTokens, &t.Leaf, &t.Model, &t.Adapter, &t.Tenant, &t.Session, &t.SLO}
}

// shift moves the zero of a wall clock to the first request if a source is not in order of time.
func (b *Builder) shift() {
	t := b.t
	first := t.ArrivalNs[0]
	if first >= 0 {
		return
	}
	for i := range t.ArrivalNs {
		t.ArrivalNs[i] -= first
	}
	t.Meta.T0UnixNs += first
	b.notes = append(b.notes, fmt.Sprintf("the first row is not the earliest: time 0 is %v before it", time.Duration(-first)))
}

// salts returns a number for each scope, made of its names only.
func (b *Builder) salts() []uint64 {
	salts := make([]uint64, len(b.scopes))
	for s, id := range b.scopes { // each writes its own place
		h := uint64(0)
		for _, name := range []int32{s.model, s.adapter, s.owner} {
			h = hashString(h, b.names.strings[name])
		}
		salts[id] = h
	}
	return salts
}

// hashString chains a string, its length first, so that neighbours cannot run together.
func hashString(h uint64, s string) uint64 {
	h = mix(h ^ uint64(len(s)))
	for i := range len(s) {
		h = mix(h ^ uint64(s[i]))
	}
	return h
}

// rename numbers the names in order of their first row, so that equal traces have equal columns.
func (b *Builder) rename() {
	t, again := b.t, newInterner()
	number := make([]int32, len(b.names.strings))
	for row := range t.Len() {
		for _, c := range [][]int32{t.Model, t.Adapter, t.Tenant, t.Session, t.SLO} {
			old := c[row]
			if old != 0 && number[old] == 0 {
				number[old] = again.id(b.names.strings[old])
			}
			c[row] = number[old]
		}
	}
	t.Strings = again.strings
}

// meta completes what the records themselves say.
func (b *Builder) meta() {
	m := &b.t.Meta
	m.RowsIn = max(m.RowsIn, int64(b.t.Len())+m.RowsDropped)
	m.Ties, m.TimeUnitSource = cmp.Or(m.Ties, "keep"), cmp.Or(m.TimeUnitSource, "ns")
	m.Tokenizer = cmp.Or(m.Tokenizer, "unknown")
	m.Anonymised = cmp.Or(m.Anonymised, "none")
	m.IdentityScope = cmp.Or(m.IdentityScope, "global")
	if b.unknown == b.t.Len() {
		m.BlockSize, m.BlockTail, m.IdentityKind = 0, TailNone, "none"
		return
	}
	m.IdentityKind = cmp.Or(m.IdentityKind, "chain")
	if m.BlockTail == "" || m.BlockTail == TailNone {
		m.BlockTail = TailCeil // every prompt is a whole number of blocks: both rules agree
	}
}

// doubts are the notes that every result of this trace should carry.
func (b *Builder) doubts() []string {
	var notes []string
	n := b.t.Len()
	if b.unknown > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d requests have no prefix identity: hits and affinity are unknown for them", b.unknown, n))
	}
	if b.zeros > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d requests have 0 output tokens: read as 1", b.zeros, n))
	}
	if silent := countEqual(b.t.Output, Unknown); silent > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d requests do not say how many tokens they generated", silent, n))
	}
	if first := time.Duration(b.t.ArrivalNs[0]); first > time.Minute {
		notes = append(notes, fmt.Sprintf("the first request arrives %v after time 0: the trace may be cut from a longer one, and caches start empty", first))
	}
	return notes
}

func countEqual(v []int32, x int32) int {
	n := 0
	for _, y := range v {
		if y == x {
			n++
		}
	}
	return n
}

// interner gives names small numbers; 0 is "".
type interner struct {
	strings []string
	ids     map[string]int32
}

func newInterner() interner { return interner{strings: []string{""}, ids: map[string]int32{"": 0}} }

func (in *interner) id(s string) int32 {
	if s == "" {
		return 0
	}
	id, ok := in.ids[s]
	if !ok {
		id = int32(len(in.strings))
		in.strings = append(in.strings, s)
		in.ids[s] = id
	}
	return id
}
