package policies_test

import (
	"fmt"

	"github.com/seed-2cee110a/triage/policies"
)

// pair returns a view of two idle replicas with room for 100,000 tokens each.
func pair() policies.View {
	view := policies.View{Local: make([]policies.Local, 2), Hits: make([]policies.Hit, 2)}
	for _, name := range []string{"A", "B"} {
		view.Replicas = append(view.Replicas, policies.Replica{Name: name, Salt: policies.Salt(name),
			Signals: policies.Signals{Have: policies.HasKVUsed | policies.HasKVTokens, KVTokens: 100_000}})
	}
	return view
}

// picks returns the names of the replicas that a policy picks for requests 1 to n, each dispatched and never finished.
func picks(text string, n int) (names []string) {
	spec, err := policies.Parse(text)
	if err != nil {
		return []string{err.Error()}
	}
	policy, view, book := spec.New(), pair(), policies.NewBook(2)
	view.Local, view.InUse = book.Local, book.InUse
	for key := 1; key <= n; key++ {
		request := policies.Request{Key: uint64(key), PromptTokens: 1000}
		var d policies.Decision
		policy.Pick(&request, &view, &d)
		book.Dispatched(view.Now, &request, &d)
		if o, ok := policy.(policies.Observer); ok {
			o.Dispatched(&request, &view, &d)
		}
		names = append(names, view.Replicas[d.Replica].Name)
	}
	return names
}

// A router believes, picks, books and remembers. The second request has 600 of its 1000 tokens in common with the
// first, so it follows it: 10*0.6 for affinity, less 3*1 for one prompt of prefill ahead and 0.02 for one request in
// flight. A would score 0.
func Example() {
	spec, err := policies.Parse("score:aff=10,q=3")
	if err != nil {
		fmt.Println(err)
		return
	}
	scorer, view, book := spec.New().(*policies.Score), pair(), policies.NewBook(2)
	view.Local, view.InUse = book.Local, book.InUse
	for key := range uint64(2) {
		request := policies.Request{Key: key, PromptTokens: 1000, Blocks: []policies.Block{{Hash: 1, Tokens: 600}, {Hash: 100 + key, Tokens: 400}}}
		var d policies.Decision
		scorer.Believe(&request, &view)
		scorer.Pick(&request, &view, &d)
		book.Dispatched(view.Now, &request, &d)
		scorer.Dispatched(&request, &view, &d)
		fmt.Printf("%s: score %.2f, margin %.2f, charged %d tokens\n", view.Replicas[d.Replica].Name, d.Score, d.Margin, d.Charge)
	}
	// Output:
	// B: score 0.00, margin 0.00, charged 1000 tokens
	// B: score 2.98, margin 2.98, charged 400 tokens
}

func ExampleParse() {
	spec, _ := policies.Parse("mine=score:q=2.50,norm=absolute")
	fmt.Println(spec.Label, spec.Name, spec.Knob("q"), spec.Knob("aff"))
	fmt.Println(policies.Diff(spec, must("score")))
	_, err := policies.Parse("score:afff=1")
	fmt.Println(err)
	// Output:
	// mine score 2.5 10
	// [q norm]
	// policy "score:afff=1": unknown knob "afff" (have aff, q, kv, lora, load, tokens, ttft, tpot, norm, cap, sent, others, rate, halflife, prefix, n, ttl, capacity, order, delay, spec, k, bound, bound_by, slots, fit, margin, output, stale, stale_as; did you mean "aff"?)
}

func must(text string) policies.Spec {
	spec, err := policies.Parse(text)
	if err != nil {
		panic(err)
	}
	return spec
}

func ExampleRoundRobin() {
	fmt.Println(picks("round-robin", 6))
	// Output: [A B A B A B]
}

func ExampleRandom() {
	fmt.Println(picks("random", 6))
	fmt.Println(picks("random:seed=1", 6))
	// Output:
	// [A B B B A A]
	// [B A A A B B]
}

// Every second request goes where fewer are in flight; the others are ties, broken by a hash of the request.
func ExampleLeastRequest() {
	fmt.Println(picks("least-request", 6))
	// Output: [A B B A A B]
}

// The work ahead is dimensionless: A has two prompts of this length to prefill before it could begin, B half of one.
func ExampleScore() {
	view := pair()
	view.Local[0].UncachedPrefill, view.Local[1].UncachedPrefill = 2000, 500
	request := policies.Request{PromptTokens: 1000}
	var d policies.Decision
	policies.NewScore(policies.DefaultScore()).Pick(&request, &view, &d)
	fmt.Printf("%s: %v %.1f\n", view.Replicas[d.Replica].Name, policies.Queue, d.Terms[policies.Queue])
	// Output: B: q -1.5
}

// With one owner for each prefix, the hash of the first 1024 tokens says which.
func ExampleNewScore() {
	config := policies.DefaultScore()
	config.Prefix, config.Owners = policies.PrefixBucket, 1
	scorer, view := policies.NewScore(config), pair()
	request := policies.Request{PromptTokens: 2000, Blocks: []policies.Block{{Hash: 7, Tokens: 2000}}, BlockTokens: 16}
	scorer.Believe(&request, &view)
	fmt.Println(view.Hits)
	// Output: [{1024 0} {0 0}]
}
