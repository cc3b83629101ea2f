package policies_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/policies"
)

// owners returns the names of the replicas that a bucket scorer believes warm, and the tokens it believes in.
func owners(s *policies.Score, r *policies.Request, v *policies.View) (names map[string]bool, tokens int32) {
	names = map[string]bool{}
	s.Believe(r, v)
	for i, h := range v.Hits {
		if h.Tokens > 0 {
			names[v.Replicas[i].Name], tokens = true, h.Tokens
		}
	}
	return names, tokens
}

// Two prompts share owners exactly if their first 1024 tokens are the same; the rest does not matter.
func TestBucketHashesTheStart(t *testing.T) {
	s := parse(t, "score:prefix=bucket").New().(*policies.Score)
	r, v := cluster(64)
	first, tokens := owners(s, r, v)
	if len(first) != 2 || tokens != 1024 {
		t.Fatalf("%d owners of %d tokens, want 2 of 1024", len(first), tokens)
	}
	r.Blocks[2].Hash++ // begins at token 2560
	if second, _ := owners(s, r, v); !equal(first, second) {
		t.Errorf("owners %v and %v of prompts with the same start, want the same", first, second)
	}
	r.Blocks[1].Hash++ // begins at token 512
	if third, _ := owners(s, r, v); equal(first, third) {
		t.Errorf("owners %v of two different starts, want others", first)
	}
}

// What is shorter than a block has no owner: a block that may be cut at 16, and one that may not be cut.
func TestBucketWantsABlock(t *testing.T) {
	for text, want := range map[string]int32{"score:prefix=bucket,n=15": 0, "score:prefix=bucket,n=16": 16, "score:prefix=bucket,n=100": 96} {
		r, v := cluster(8)
		s := parse(t, text).New().(*policies.Score)
		if _, tokens := owners(s, r, v); tokens != want {
			t.Errorf("%s: %d tokens, want %d", text, tokens, want)
		}
		r.BlockTokens = 0
		if _, tokens := owners(s, r, v); tokens != 0 {
			t.Errorf("%s: %d tokens of a whole block of 512, want 0", text, tokens)
		}
	}
}

// k owners, none cordoned or of another model; and when one goes, only its keys move (rendezvous hashing).
func TestBucketOwners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, n := rapid.IntRange(1, 5).Draw(t, "k"), rapid.IntRange(1, 12).Draw(t, "replicas")
		c := policies.DefaultScore()
		c.Prefix, c.Owners = policies.PrefixBucket, k
		s := policies.NewScore(c)
		r, v := cluster(n)
		r.Blocks[1].Hash = rapid.Uint64().Draw(t, "hash")
		before, _ := owners(s, r, v)
		if len(before) != min(k, n) {
			t.Fatalf("%d owners among %d, want %d", len(before), n, k)
		}
		gone := rapid.IntRange(0, n-1).Draw(t, "gone")
		if v.Replicas[gone].Cordoned = true; rapid.Bool().Draw(t, "other model") {
			v.Replicas[gone].Cordoned, v.Replicas[gone].Model = false, 2
		}
		after, _ := owners(s, r, v)
		delete(before, v.Replicas[gone].Name)
		for name := range before {
			if !after[name] {
				t.Fatalf("%s lost its prefix when %s went", name, v.Replicas[gone].Name)
			}
		}
		if after[v.Replicas[gone].Name] || len(after) != min(k, n-1) {
			t.Fatalf("owners %v of k %d when %s went", after, k, v.Replicas[gone].Name)
		}
	})
}

func equal(a, b map[string]bool) bool {
	for name := range a {
		if !b[name] {
			return false
		}
	}
	return len(a) == len(b)
}
