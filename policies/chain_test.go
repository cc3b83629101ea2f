package policies_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/policies"
)

// The vectors fix the chain for every router and log: a program in another language made them from the doc comment.
func TestChainVectors(t *testing.T) {
	var file struct {
		Chain string
		Cases []struct {
			Name        string
			BlockTokens int `json:"block_tokens"`
			Scope       policies.Scope
			Partial     bool
			Tokens      []int32
			Text        string
			Blocks      []struct {
				Hash   string
				Tokens int32
			}
		}
	}
	data, err := os.ReadFile("testdata/chain-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &file); err != nil || len(file.Cases) == 0 {
		t.Fatalf("%d vectors, error %v", len(file.Cases), err)
	}
	for _, v := range file.Cases {
		c := policies.Chain{Name: file.Chain, BlockTokens: v.BlockTokens, Scope: v.Scope, Partial: v.Partial}
		got := c.Text(nil, v.Text)
		if v.Tokens != nil {
			got = c.Tokens(nil, v.Tokens)
		}
		var want []policies.Block
		for _, b := range v.Blocks {
			var hash uint64
			if _, err := fmt.Sscanf(b.Hash, "%x", &hash); err != nil {
				t.Fatal(err)
			}
			want = append(want, policies.Block{Hash: hash, Tokens: b.Tokens})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v.Name, diff)
		}
	}
}

// Two prompts share as many hashes as they share whole blocks from the start, and none after.
func TestChainPrefixes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := policies.Chain{BlockTokens: rapid.IntRange(1, 9).Draw(t, "block"), Partial: rapid.Bool().Draw(t, "partial")}
		id := rapid.Int32Range(0, 2) // few ids, so that prompts share much by chance
		a, b := rapid.SliceOf(id).Draw(t, "a"), rapid.SliceOf(id).Draw(t, "b")
		common := 0
		for common < min(len(a), len(b)) && a[common] == b[common] {
			common++
		}
		want := common / c.BlockTokens
		if c.Partial && slices.Equal(a, b) {
			want = (common + c.BlockTokens - 1) / c.BlockTokens
		}
		x, y := c.Tokens(nil, a), c.Tokens(nil, b)
		for i := range min(len(x), len(y)) {
			if (x[i].Hash == y[i].Hash) != (i < want) {
				t.Fatalf("block %d: hashes %x and %x, want %d common blocks of %v and %v", i, x[i].Hash, y[i].Hash, want, a, b)
			}
		}
		if got := total(x); !c.Partial && got != int32(len(a)/c.BlockTokens*c.BlockTokens) || c.Partial && got != int32(len(a)) {
			t.Fatalf("blocks cover %d of %d tokens, partial %v", got, len(a), c.Partial)
		}
	})
}

func total(blocks []policies.Block) (n int32) {
	for _, b := range blocks {
		n += b.Tokens
	}
	return n
}

// Text is hashed as bytes: the same law with four bytes a token.
func TestChainText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := policies.Chain{BlockTokens: rapid.IntRange(1, 4).Draw(t, "block")}
		common := rapid.StringN(-1, -1, 100).Draw(t, "common")
		x, y := c.Text(nil, common+"a"+strings.Repeat("x", 16)), c.Text(nil, common+"b"+strings.Repeat("x", 16))
		want := len(common) / (4 * c.BlockTokens)
		for i := range x {
			if (x[i].Hash == y[i].Hash) != (i < want) {
				t.Fatalf("block %d of %q: hashes %x and %x, want %d common blocks", i, common, x[i].Hash, y[i].Hash, want)
			}
		}
	})
}

// Equal prompts in different scopes share nothing, however the names are cut; nor do ids and text, nor other block sizes.
func TestChainScopes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.SampledFrom([]rune("a\x00")), 0, 9, -1)
		draw := func(label string) policies.Chain {
			return policies.Chain{BlockTokens: rapid.IntRange(1, 2).Draw(t, label+" block"), Scope: policies.Scope{
				Model: name.Draw(t, label+" model"), Adapter: name.Draw(t, label+" adapter"),
				Tenant: name.Draw(t, label+" tenant"), Salt: name.Draw(t, label+" salt")}}
		}
		c, d := draw("one"), draw("other")
		ids := []int32{1, 2, 3, 4}
		a, b := c.Tokens(nil, ids)[0].Hash, d.Tokens(nil, ids)[0].Hash
		if (a == b) != (c == d) {
			t.Fatalf("hashes %x and %x in %+v and %+v", a, b, c, d)
		}
		if text := c.Text(nil, "\x01\x00\x00\x00\x02\x00\x00\x00"); text[0].Hash == a {
			t.Fatalf("text and ids of the same bytes have the hash %x", a)
		}
	})
}

func TestChainRefuses(t *testing.T) {
	for want, c := range map[string]policies.Chain{
		`unknown chain "triage-chain/2" (have triage-chain/1; did you mean "triage-chain/1"?)`: {Name: "triage-chain/2", BlockTokens: 16},
		`chain triage-chain/1: block tokens is 0, want 1..536870911`:                           {},
	} {
		if err := c.Check(); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	w := tuned()
	if c, err := w.NewChain(policies.Scope{Model: "m"}); err != nil || c.BlockTokens != w.BlockTokens || c.Scope.Model != "m" {
		t.Errorf("the file's chain is %+v, error %v", c, err)
	}
	w.BlockTokens = 0
	if _, err := w.NewChain(policies.Scope{}); err == nil || !strings.Contains(err.Error(), "set BlockTokens to the engines' block size") {
		t.Errorf("a file without block tokens: error %v", err)
	}
}

func TestChainAllocatesNothing(t *testing.T) {
	c := policies.Chain{BlockTokens: 16, Scope: policies.Scope{Model: "Qwen/Qwen3-32B", Adapter: "sql"}}
	ids, text, dst := make([]int32, 4096), strings.Repeat("word ", 4000), make([]policies.Block, 0, 512)
	if n := testing.AllocsPerRun(10, func() { c.Text(c.Tokens(dst[:0], ids)[:0], text) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// BenchmarkChain measures a prompt of 8192 tokens, or as much text.
func BenchmarkChain(b *testing.B) {
	c := policies.Chain{BlockTokens: 16, Scope: policies.Scope{Model: "Qwen/Qwen3-32B"}}
	ids, text, dst := make([]int32, 8192), strings.Repeat("abcdefg ", 4096), make([]policies.Block, 0, 512)
	b.Run("tokens", func(b *testing.B) {
		b.SetBytes(4 * 8192)
		for b.Loop() {
			dst = c.Tokens(dst[:0], ids)
		}
	})
	b.Run("text", func(b *testing.B) {
		b.SetBytes(4 * 8192)
		for b.Loop() {
			dst = c.Text(dst[:0], text)
		}
	})
}
