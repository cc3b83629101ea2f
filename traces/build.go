package traces

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

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
	if err := b.shift(); err != nil {
		return nil, err
	}
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

// int32Columns are the columns of that type, in the order in which the digest has them. The last is left out of it if the
// trace has none.
func (t *Trace) int32Columns() []*[]int32 {
	return []*[]int32{&t.Prompt, &t.Output, &t.MaxTokens, &t.Leaf, &t.Model, &t.Adapter, &t.Tenant, &t.Session, &t.SLO, &t.PrefixKey}
}

// shift moves the zero of a wall clock to the first request if a source is not in order of time.
func (b *Builder) shift() error {
	t := b.t
	first, last := t.ArrivalNs[0], t.ArrivalNs[t.Len()-1]
	if first >= 0 {
		return nil
	}
	if span := time.Duration(last - first); span > maxArrival {
		return fmt.Errorf("the requests span %.1f days, want at most %d; %s", days(span), maxDays, limitHint)
	}
	for i := range t.ArrivalNs {
		t.ArrivalNs[i] -= first
	}
	t.Meta.T0UnixNs += first
	b.notes = append(b.notes, fmt.Sprintf("the first row is not the earliest: time 0 is %v before it", time.Duration(-first)))
	return nil
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
		for _, c := range [][]int32{t.Model, t.Adapter, t.Tenant, t.Session, t.SLO, t.PrefixKey} {
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
