package traces

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// blockKey is a block as the naive model knows it: two blocks are the same if all of it is equal.
type blockKey struct {
	id     int64
	tokens int32
}

// naivePath is a record's prefix, written to be obviously right.
func naivePath(r Record, size int32) []blockKey {
	var path []blockKey
	left := r.PromptTokens
	for _, id := range r.Blocks {
		path = append(path, blockKey{id, min(size, left)})
		left -= size
	}
	return path
}

// naiveScope is what may share.
func naiveScope(r Record, scope string) string {
	owner := map[string]string{"global": "", "tenant": r.Tenant, "session": r.Session}[scope]
	return fmt.Sprintf("%q %q %q", r.Model, r.Adapter, owner)
}

// naiveShared is the tokens that two records share.
func naiveShared(a, b Record, m Meta) int32 {
	if naiveScope(a, m.IdentityScope) != naiveScope(b, m.IdentityScope) {
		return 0
	}
	shared := int32(0)
	p, q := naivePath(a, m.BlockSize), naivePath(b, m.BlockSize)
	for i := 0; i < len(p) && i < len(q) && p[i] == q[i]; i++ {
		shared += p[i].tokens
	}
	return shared
}

// forestShared is the same by the forest: the end of the last common node.
func forestShared(f *Forest, a, b int32) int32 {
	for a != b {
		if a > b {
			a = f.Parent[a]
		} else {
			b = f.Parent[b]
		}
	}
	if a < 0 {
		return 0
	}
	return f.End[a]
}

// drawRecords makes records with few ids and few lengths, so that they collide.
func drawRecords(t *rapid.T, m Meta) []Record {
	pick := func(label string, names ...string) string { return rapid.SampledFrom(names).Draw(t, label) }
	n := rapid.IntRange(1, 12).Draw(t, "n")
	records := make([]Record, n)
	for i := range records {
		r := NewRecord()
		r.ArrivalNs = rapid.Int64Range(0, 3).Draw(t, "arrival") * 500_000
		r.Line = int64(i + 1)
		r.Model, r.Adapter = pick("model", "", "m"), pick("adapter", "", "a")
		r.Tenant, r.Session = pick("tenant", "", "x", "y"), pick("session", "", "s")
		r.PromptTokens = rapid.Int32Range(1, 4*m.BlockSize+2).Draw(t, "prompt")
		r.OutputTokens = rapid.SampledFrom([]int32{Unknown, 1, 7}).Draw(t, "output")
		if rapid.IntRange(0, 5).Draw(t, "identity") > 0 {
			r.Blocks = drawBlocks(t, m, r.PromptTokens)
		}
		records[i] = r
	}
	return records
}

func drawBlocks(t *rapid.T, m Meta, prompt int32) []int64 {
	n := prompt / m.BlockSize
	if m.BlockTail == TailCeil {
		n = (prompt + m.BlockSize - 1) / m.BlockSize
	}
	ids := make([]int64, n)
	for k := range ids {
		ids[k] = rapid.Int64Range(-1, 1).Draw(t, "id")
	}
	return ids
}

func drawMeta(t *rapid.T) Meta {
	return Meta{
		T0UnixNs: Unknown, TimeResolution: Unknown,
		BlockSize:     rapid.SampledFrom([]int32{1, 3, 4}).Draw(t, "block size"),
		BlockTail:     rapid.SampledFrom([]BlockTail{TailCeil, TailFloor}).Draw(t, "tail"),
		IdentityScope: rapid.SampledFrom([]string{"global", "tenant", "session"}).Draw(t, "scope"),
	}
}

func build(t interface{ Fatal(...any) }, m Meta, records []Record) *Trace {
	b := NewBuilder(m)
	for _, r := range records {
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// The forest says of all pairs of requests what a comparison of their ids says, and it is compressed.
func TestForest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMeta(t)
		records := drawRecords(t, m)
		tr := build(t, m, records)
		sorted := slices.Clone(records)
		slices.SortStableFunc(sorted, func(a, b Record) int { return int(a.ArrivalNs - b.ArrivalNs) })
		checkShares(t, tr, sorted)
		checkCompressed(t, tr)
		checkHits(t, tr, sorted)
	})
}

func checkShares(t *rapid.T, tr *Trace, records []Record) {
	f := &tr.Forest
	for i, a := range records {
		if tr.Line[i] != a.Line {
			t.Fatalf("row %d is line %d, want %d", i, tr.Line[i], a.Line)
		}
		if got, want := tr.Identified(i), a.Blocks != nil; got != want {
			t.Fatalf("row %d: identified %v, want %v", i, got, want)
		}
		for j, b := range records {
			if got, want := forestShared(f, tr.Leaf[i], tr.Leaf[j]), naiveShared(a, b, tr.Meta); got != want {
				t.Fatalf("rows %d and %d share %d tokens, want %d", i, j, got, want)
			}
		}
	}
}

// checkCompressed holds the forest to what its type promises.
func checkCompressed(t *rapid.T, tr *Trace) {
	f := &tr.Forest
	children, ends, walks := make([]int, len(f.End)), make([]int, len(f.End)), make([]int32, len(f.End))
	next := int32(0)
	hashes := map[uint64]bool{}
	for _, leaf := range tr.Leaf {
		if leaf >= 0 {
			ends[leaf]++
		}
		fresh := int32(0)
		for n := leaf; n >= 0; n = f.Parent[n] {
			walks[n]++
			if walks[n] == 1 {
				fresh++
			}
		}
		for n, k := leaf, int32(1); k <= fresh; n, k = f.Parent[n], k+1 { // numbered by first walk, parents first
			if want := next + fresh - k; n != want {
				t.Fatalf("node %d is walked where node %d is next", n, want)
			}
		}
		next += fresh
	}
	if int(next) != len(f.End) {
		t.Fatalf("%d nodes are walked, want all %d", next, len(f.End))
	}
	for n, p := range f.Parent {
		if p >= 0 {
			children[p]++
		}
		if walks[n] != f.Walks[n] {
			t.Fatalf("node %d has %d walks, want %d", n, f.Walks[n], walks[n])
		}
		if hashes[f.Hash[n]] {
			t.Fatalf("two nodes have hash %x", f.Hash[n])
		}
		hashes[f.Hash[n]] = true
	}
	for n := range f.Parent {
		if children[n] == 1 && ends[n] == 0 {
			t.Fatalf("node %d has one child and no request ends there: not compressed", n)
		}
	}
}

// checkHits recomputes what a cache without bounds serves.
func checkHits(t *rapid.T, tr *Trace, records []Record) {
	hit, all := 0, 0
	for i, r := range records {
		if r.Blocks == nil {
			continue
		}
		best := int32(0)
		for _, before := range records[:i] {
			best = max(best, naiveShared(r, before, tr.Meta))
		}
		hit += int(best)
		all += int(r.PromptTokens)
	}
	got, want := tr.InfiniteHitRatio(), float64(hit)/float64(all)
	if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
		t.Fatalf("infinite hit ratio %v, want %v", got, want)
	}
	if !math.IsNaN(want) {
		left := tr.PromptTokens() - int64(hit)
		if got := tr.UniqueTokens(); got != left {
			t.Fatalf("%d unique tokens, want %d", got, left)
		}
	}
}

// Other numbers for the same blocks, or another order of the rows in the file, change neither digest nor hashes.
func TestDigestIsOfContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMeta(t)
		records := drawRecords(t, m)
		want := build(t, m, records)
		other := slices.Clone(records)
		for i := range other {
			ids := slices.Clone(other[i].Blocks)
			for k := range ids {
				ids[k] = 1000 - 7*ids[k]
			}
			other[i].Blocks = ids
		}
		slices.Reverse(other)
		got := build(t, m, other)
		if got.Digest != want.Digest || !slices.Equal(got.Forest.Hash, want.Forest.Hash) {
			t.Fatalf("digest %s, want %s", got.Digest, want.Digest)
		}
	})
}

// Every column that a replay depends on is in the digest.
func TestDigestSeesEveryColumn(t *testing.T) {
	record := func() Record {
		r := NewRecord()
		r.ArrivalNs, r.Line, r.PromptTokens, r.OutputTokens, r.MaxTokens = 5, 1, 10, 3, 4
		r.Blocks = []int64{1, 2, 3}
		return r
	}
	second := record()
	m := Meta{BlockSize: 4}
	base := build(t, m, []Record{record(), second}).Digest
	for name, change := range map[string]func(*Record){
		"arrival":    func(r *Record) { r.ArrivalNs-- },
		"prompt":     func(r *Record) { r.PromptTokens++ },
		"output":     func(r *Record) { r.OutputTokens++ },
		"max":        func(r *Record) { r.MaxTokens = Unknown },
		"model":      func(r *Record) { r.Model = "m" },
		"adapter":    func(r *Record) { r.Adapter = "m" },
		"tenant":     func(r *Record) { r.Tenant = "m" },
		"session":    func(r *Record) { r.Session = "m" },
		"slo":        func(r *Record) { r.SLO = "m" },
		"prefix key": func(r *Record) { r.PrefixKey = "m" },
		"unknown":    func(r *Record) { r.Blocks = nil },
		"last id":    func(r *Record) { r.Blocks[2] = 4 },
		"first id":   func(r *Record) { r.Blocks[0] = 4 },
		"all equal":  nil,
	} {
		r := record()
		if change != nil {
			change(&r)
		}
		if got := build(t, m, []Record{r, second}).Digest; (got == base) != (change == nil) {
			t.Errorf("%s: digest %s, before %s", name, got, base)
		}
	}
	short := NewRecord()
	short.PromptTokens, short.Blocks = 3, []int64{}
	unknown := short
	unknown.Blocks = nil
	floor := Meta{BlockSize: 4, BlockTail: TailFloor}
	second.Blocks = second.Blocks[:2]
	if build(t, floor, []Record{short, second}).Digest == build(t, floor, []Record{unknown, second}).Digest {
		t.Error("an empty identity and an unknown one have one digest")
	}
}

func TestBuilderRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Record)
		want   string
	}{
		"before time 0":   {func(r *Record) { r.ArrivalNs = -1 }, "arrival_ns is -1, want at least 0"},
		"years away":      {func(r *Record) { r.ArrivalNs = math.MaxInt64 }, "arrival_ns is 9223372036854775807 (106752.0 days after time 0), want at most 4320000000000000 (50 days); --speed cannot help: cut the trace"},
		"no prompt":       {func(r *Record) { r.PromptTokens = 0 }, "prompt_tokens is 0, want at least 1"},
		"absurd prompt":   {func(r *Record) { r.PromptTokens = maxTokens + 1 }, "prompt_tokens is 100000001, want at most 100000000"},
		"negative output": {func(r *Record) { r.OutputTokens = -2 }, "output_tokens is -2, want at least 0"},
		"later parent":    {func(r *Record) { r.ParentRow = 1 }, "parent_row is 1, want an earlier row (this is row 1)"},
		"too few ids":     {func(r *Record) { r.Blocks = r.Blocks[:1] }, "1 hash ids cannot cover 10 tokens in blocks of 4 (3 needed); a block size of 10 or more would fit (6 to 10 if the last, partly filled block has no id)"},
		"another rule":    {func(r *Record) { r.Blocks = r.Blocks[:2] }, "2 hash ids for 10 tokens in blocks of 4: this row has none, which is floor, but line 7 says ceil; want one rule in a file"},
	} {
		b := NewBuilder(Meta{BlockSize: 4})
		good := NewRecord()
		good.Line, good.PromptTokens, good.Blocks = 7, 10, []int64{1, 2, 3}
		if err := b.Add(good); err != nil {
			t.Fatal(err)
		}
		bad := good
		tc.change(&bad)
		if err := b.Add(bad); err == nil || err.Error() != tc.want {
			t.Errorf("%s:\n got %v\nwant %s", name, err, tc.want)
		}
	}
	b := NewBuilder(Meta{})
	for i, at := range []int64{5, 4} {
		r := NewRecord()
		r.PromptTokens, r.ArrivalNs, r.Line, r.ParentRow = 1, at, int64(i+1), int64(i-1)
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Build(); err == nil || err.Error() != "the request of line 2 waits for that of line 1, which arrives after it" {
		t.Error(err)
	}
	if _, err := NewBuilder(Meta{}).Build(); err == nil || err.Error() != "no requests, want at least 1" {
		t.Errorf("empty trace: %v", err)
	}
}
