package traces

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func overlay(t interface{ Fatal(...any) }, tr *Trace, spec string) *Trace {
	a, err := ParseAdapters(spec)
	if err != nil {
		t.Fatal(err)
	}
	out, err := tr.WithAdapters(a)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sessionTrace has so many sessions, of two turns each with the same two blocks for all.
func sessionTrace(t interface{ Fatal(...any) }, sessions int) *Trace {
	var records []Record
	for turn := range 2 {
		for s := range sessions {
			r := NewRecord()
			r.Session, r.PromptTokens, r.OutputTokens, r.Blocks = fmt.Sprint("s", s), 10, 1, []int64{1, 2}
			r.ArrivalNs, r.Line = int64(turn*sessions+s)*1000, int64(len(records)+1)
			records = append(records, r)
		}
	}
	return build(t, Meta{T0UnixNs: Unknown, BlockSize: 5, BlockTail: TailCeil}, records)
}

// bySession returns the adapter of every session; it fails if one has two.
func bySession(t interface{ Fatalf(string, ...any) }, tr *Trace) map[string]string {
	adapters := map[string]string{}
	for row := range tr.Len() {
		session, adapter := tr.Strings[tr.Session[row]], tr.Strings[tr.Adapter[row]]
		if had, ok := adapters[session]; ok && had != adapter {
			t.Fatalf("session %q has the adapters %q and %q", session, had, adapter)
		}
		adapters[session] = adapter
	}
	return adapters
}

// chiSquare is how far counts of adapters lie from Zipf's with exponent s, over what chance makes on average.
func chiSquare(counts []int, sessions int, s float64) float64 {
	sum, weights := 0.0, make([]float64, len(counts))
	for k := range weights {
		weights[k] = math.Pow(float64(k+1), -s)
		sum += weights[k]
	}
	chi := 0.0
	for k, n := range counts {
		want := float64(sessions) * weights[k] / sum
		chi += (float64(n) - want) * (float64(n) - want) / want
	}
	return chi / float64(len(counts)-1)
}

// Of 20,000 sessions as many have each adapter as Zipf's law says. The measure is chi square over its mean, n-1: by
// chance its standard deviation is sqrt(2/(n-1)), and 5 of them are allowed. An exponent that is 0.1 off is found.
func TestAdaptersFollowZipf(t *testing.T) {
	const sessions = 20_000
	tr := sessionTrace(t, sessions)
	for _, tc := range []struct {
		s float64
		n int
	}{{0, 8}, {0.7, 16}, {1.1, 64}, {1.5, 5}, {1.1, 1}} {
		for seed := range 3 {
			counts := make([]int, tc.n)
			for _, adapter := range bySession(t, overlay(t, tr, fmt.Sprintf("zipf:s=%v,n=%d,seed=%d", tc.s, tc.n, seed))) {
				var k int
				if _, err := fmt.Sscanf(adapter, "lora-%d", &k); err != nil || k < 1 || k > tc.n {
					t.Fatalf("adapter %q, want lora-1 to lora-%d", adapter, tc.n)
				}
				counts[k-1]++
			}
			if tc.n == 1 {
				continue
			}
			allowed := 1 + 5*math.Sqrt(2/float64(tc.n-1))
			if got := chiSquare(counts, sessions, tc.s); got > allowed {
				t.Errorf("s=%v n=%d seed=%d: chi square is %.2f of its mean, want at most %.2f: %v", tc.s, tc.n, seed, got, allowed, counts)
			}
			for _, other := range []float64{tc.s - 0.1, tc.s + 0.1} {
				if got := chiSquare(counts, sessions, other); got < allowed {
					t.Errorf("s=%v n=%d seed=%d: taken for s=%v", tc.s, tc.n, seed, other)
				}
			}
		}
	}
}

// The base model has its share of the sessions, within 5 standard deviations, whatever the others get; and a larger share
// takes sessions from adapters, and changes no other.
func TestAdaptersBaseShare(t *testing.T) {
	const sessions = 10_000
	tr := sessionTrace(t, sessions)
	for _, kind := range []string{"zipf:s=1,n=8,", "identical:", "distinct:"} {
		all := bySession(t, overlay(t, tr, kind+"base=0"))
		for _, base := range []float64{0, 0.2, 0.5, 1} {
			some, n := bySession(t, overlay(t, tr, fmt.Sprintf("%sbase=%v", kind, base))), 0
			for session, adapter := range some {
				switch adapter {
				case "":
					n++
				case all[session]:
				default:
					t.Fatalf("%sbase=%v: session %s has %s, want %s or none", kind, base, session, adapter, all[session])
				}
			}
			if off := math.Abs(float64(n) - base*sessions); off > 5*math.Sqrt(base*(1-base)*sessions) {
				t.Errorf("%sbase=%v: %d of %d sessions ask for the base model", kind, base, n, sessions)
			}
		}
	}
}

// Identical adapters are one, distinct ones as many as sessions.
func TestAdapterKinds(t *testing.T) {
	tr := sessionTrace(t, 50)
	for spec, want := range map[string]int{"identical": 1, "distinct": 50} {
		names := map[string]bool{}
		for _, adapter := range bySession(t, overlay(t, tr, spec)) {
			names[adapter] = true
		}
		if len(names) != want || names[""] {
			t.Errorf("%s: adapters %v, want %d", spec, names, want)
		}
	}
}

// An adapter follows from seed and session: with half of the rows gone, or the source's lines in reverse, each session
// keeps its own; another seed gives others.
func TestAdaptersAreKeyed(t *testing.T) {
	tr := sessionTrace(t, 400)
	const spec = "zipf:s=0.5,n=20,base=0.3,seed=7"
	want := bySession(t, overlay(t, tr, spec))
	records := slices.Collect(tr.Records())
	for name, change := range map[string]func([]Record) []Record{
		"half":     func(r []Record) []Record { return r[len(r)/4 : 3*len(r)/4] },
		"reversed": func(r []Record) []Record { slices.Reverse(r); return r },
		"other times": func(r []Record) []Record {
			for i := range r {
				r[i].ArrivalNs, r[i].Line = r[i].ArrivalNs/7, int64(len(r)-i)
			}
			return r
		},
	} {
		got := bySession(t, overlay(t, build(t, tr.Meta, change(slices.Clone(records))), spec))
		for session, adapter := range got {
			if adapter != want[session] {
				t.Errorf("%s: session %s has %q, want %q", name, session, adapter, want[session])
			}
		}
	}
	if a, b := overlay(t, tr, spec), overlay(t, tr, spec); a.Digest != b.Digest {
		t.Error("the same seed gives another trace")
	}
	if d := cmp.Diff(want, bySession(t, overlay(t, tr, strings.Replace(spec, "seed=7", "seed=8", 1)))); d == "" {
		t.Error("another seed gives the same adapters")
	}
}

// Requests without a session are drawn one by one, by id or line, and the trace says that this parts conversations.
func TestAdaptersWithoutSession(t *testing.T) {
	tr := sessionTrace(t, 200)
	var records []Record
	for r := range tr.Records() {
		r.Session = ""
		if r.Line%2 == 0 {
			r.ID = fmt.Sprint("id", r.Line)
		}
		records = append(records, r)
	}
	alone := build(t, tr.Meta, records)
	out := overlay(t, alone, "distinct")
	names := map[int32]bool{}
	for _, adapter := range out.Adapter {
		names[adapter] = true
	}
	if len(names) != alone.Len() {
		t.Errorf("%d adapters of %d requests, want one each", len(names), alone.Len())
	}
	want := "400 of 400 requests name no session, and distinct:seed=1 draws for each by itself"
	if len(out.Notes) != 1 || !strings.HasPrefix(out.Notes[0], want) {
		t.Errorf("notes %q, want %q", out.Notes, want)
	}
	if notes := overlay(t, alone, "identical").Notes; len(notes) != 0 {
		t.Errorf("one adapter for all: notes %q, want none", notes)
	}
	part := build(t, tr.Meta, records[100:300])
	for row, adapter := range overlay(t, part, "zipf:s=1,n=9").adapterNames() {
		if whole := overlay(t, alone, "zipf:s=1,n=9").adapterNames()[100+row]; adapter != whole {
			t.Fatalf("line %d has %s of a part and %s of the whole", part.Line[row], adapter, whole)
		}
	}
}

func (t *Trace) adapterNames() (names []string) {
	for _, a := range t.Adapter {
		names = append(names, t.Strings[a])
	}
	return names
}

// Whatever the trace, the overlay changes adapters only, requests share what they shared unless their adapters differ,
// and what is written and read again is the same trace.
func TestOverlayChangesAdaptersOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMeta(t)
		records := drawRecords(t, m)
		for i := range records {
			drawRest(t, records[:i], &records[i])
			records[i].Session = rapid.SampledFrom([]string{"", "s", "u", "v"}).Draw(t, "session")
		}
		tr := build(t, m, records)
		spec := rapid.SampledFrom([]string{"zipf:s=1,n=3,base=0.3", "identical", "identical:base=0.5", "distinct"}).Draw(t, "overlay")
		out := overlay(t, tr, fmt.Sprintf("%s%sseed=%d", spec, separator(spec), rapid.IntRange(0, 3).Draw(t, "seed")))
		before, after := slices.Collect(tr.Records()), slices.Collect(out.Records())
		if d := cmp.Diff(before, after, cmpopts.IgnoreFields(Record{}, "Adapter", "Blocks")); d != "" {
			t.Fatalf("records differ: %s", d)
		}
		if d := cmp.Diff(tr.Meta, out.Meta, cmpopts.IgnoreFields(Meta{}, "Overlays")); d != "" {
			t.Fatalf("meta differs: %s", d)
		}
		checkParting(t, tr, out)
		checkCompressed(t, out)
		checkWritten(t, out)
	})
}

func separator(spec string) string {
	if strings.Contains(spec, ":") {
		return ","
	}
	return ":"
}

func checkParting(t *rapid.T, tr, out *Trace) {
	for i := range out.Len() {
		if tr.Identified(i) != out.Identified(i) {
			t.Fatalf("row %d: identified %v, was %v", i, out.Identified(i), tr.Identified(i))
		}
		for j := range out.Len() {
			want := forestShared(&tr.Forest, tr.Leaf[i], tr.Leaf[j])
			if out.Adapter[i] != out.Adapter[j] {
				want = 0
			}
			if got := forestShared(&out.Forest, out.Leaf[i], out.Leaf[j]); got != want {
				t.Fatalf("rows %d and %d share %d tokens with adapters %q and %q, want %d", i, j, got,
					out.Strings[out.Adapter[i]], out.Strings[out.Adapter[j]], want)
			}
		}
	}
}

func checkWritten(t *rapid.T, out *Trace) {
	again := read(t, write(t, "parquet", out), Options{})
	if d := cmp.Diff(out, again, cmp.AllowUnexported(Trace{}), cmpopts.IgnoreFields(Trace{}, "Name", "Notes", "extra")); d != "" {
		t.Fatalf("written and read again the trace differs: %s", d)
	}
}

// The metadata keep other overlays and name the last one for adapters; a trace that named adapters says so.
func TestOverlayIsRecorded(t *testing.T) {
	tr := sessionTrace(t, 3)
	tr.Meta.Overlays = "slo=x"
	once := overlay(t, tr, "identical")
	twice := overlay(t, once, "zipf:n=2,s=1.50,base=0.25")
	if want := "slo=x;adapters=identical:seed=1"; once.Meta.Overlays != want {
		t.Errorf("overlays %q, want %q", once.Meta.Overlays, want)
	}
	if want := "slo=x;adapters=zipf:s=1.5,n=2,base=0.25,seed=1"; twice.Meta.Overlays != want {
		t.Errorf("overlays %q, want %q", twice.Meta.Overlays, want)
	}
	want := []string{"6 of 6 requests named an adapter: zipf:s=1.5,n=2,base=0.25,seed=1 is in place of that"}
	if d := cmp.Diff(want, twice.Notes); d != "" {
		t.Error(d)
	}
}

// What is printed can be parsed, and is what was meant.
func TestAdaptersText(t *testing.T) {
	for text, want := range map[string]Adapters{
		"zipf:s=1.1,n=64":                 {Kind: "zipf", S: 1.1, N: 64, Seed: 1},
		"zipf:n=1e3,base=0.2,s=0,seed=0":  {Kind: "zipf", N: 1000, Base: 0.2},
		"identical":                       {Kind: "identical", Seed: 1},
		"distinct:base=1,seed=1844674407": {Kind: "distinct", Base: 1, Seed: 1844674407},
	} {
		a, err := ParseAdapters(text)
		if err != nil || a != want {
			t.Errorf("%s: %+v, %v, want %+v", text, a, err, want)
		}
		if again, err := ParseAdapters(a.String()); err != nil || again != a {
			t.Errorf("%s: printed as %s, which is %+v, %v", text, a, again, err)
		}
	}
	if text := (Adapters{}).String(); text != "" {
		t.Errorf("no overlay is printed as %q", text)
	}
}

// What is wrong names what is allowed.
func TestAdaptersRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"":                        `adapters "": unknown kind "" (have zipf, identical, distinct)`,
		"zip:s=1,n=2":             `adapters "zip:s=1,n=2": unknown kind "zip" (have zipf, identical, distinct; did you mean "zipf"?)`,
		"zipf":                    `adapters "zipf": s is missing, want for example zipf:s=1.1,n=64,base=0.2`,
		"zipf:s=1":                `adapters "zipf:s=1": n is missing, want for example zipf:s=1.1,n=64,base=0.2`,
		"zipf:":                   `adapters "zipf:": found "", want NAME=VALUE as in zipf:s=1.1,n=64,base=0.2`,
		"zipf:64":                 `adapters "zipf:64": found "64", want NAME=VALUE as in zipf:s=1.1,n=64,base=0.2`,
		"zipf:s=1,n=2,bass=1":     `adapters "zipf:s=1,n=2,bass=1": unknown parameter "bass" (zipf has s, n, base, seed; did you mean "base"?)`,
		"identical:n=2":           `adapters "identical:n=2": unknown parameter "n" (identical has base, seed)`,
		"zipf:s=1,s=2,n=2":        `adapters "zipf:s=1,s=2,n=2": s is given twice`,
		"zipf:s=x,n=2":            `adapters "zipf:s=x,n=2": s is "x", want 0 to 10`,
		"zipf:s=11,n=2":           `adapters "zipf:s=11,n=2": s is 11, want 0 to 10`,
		"zipf:s=nan,n=2":          `adapters "zipf:s=nan,n=2": s is NaN, want 0 to 10`,
		"zipf:s=1,n=0":            `adapters "zipf:s=1,n=0": n is 0, want a whole number, 1 to 1000000`,
		"zipf:s=1,n=1.5":          `adapters "zipf:s=1,n=1.5": n is "1.5", want a whole number, 1 to 1000000`,
		"distinct:base=20%":       `adapters "distinct:base=20%": base is "20%", want 0 to 1`,
		"distinct:base=1.1":       `adapters "distinct:base=1.1": base is 1.1, want 0 to 1`,
		"identical:seed=-1":       `adapters "identical:seed=-1": seed is "-1", want a whole number of at least 0`,
		"zipf:s=1,n=2,,base=0.2,": `adapters "zipf:s=1,n=2,,base=0.2,": found "", want NAME=VALUE as in zipf:s=1.1,n=64,base=0.2`,
	} {
		if _, err := ParseAdapters(text); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
	if _, err := sessionTrace(t, 1).WithAdapters(Adapters{Kind: "zipf", S: 1}); err == nil {
		t.Error("an overlay of no adapters is laid, want an error")
	}
}
