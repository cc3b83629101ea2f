package sim

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/traces"
)

// pathOf returns the nodes from a leaf to its root.
func pathOf(tr *traces.Trace, leaf int32) map[int32]bool {
	nodes := map[int32]bool{}
	for n := leaf; n >= 0; n = tr.Forest.Parent[n] {
		nodes[n] = true
	}
	return nodes
}

// A bound answer lies within its own prompt and output and within the path that names it; a later request walks that path
// and has room for the answer; and the walks are those of a recount.
func TestBoundOutputs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := anyTrace(t)
		cfg := small()
		cfg.ReuseOutput = rapid.SampledFrom(append(ReuseOutputs, "")).Draw(t, "reuse")
		s, err := Prepare(cfg, tr)
		if err != nil {
			t.Fatal(err)
		}
		walks := make([]int32, len(tr.Forest.Parent))
		for row := range tr.Len() {
			q := s.sequence(int32(row), 0)
			nodes := pathOf(tr, tr.Leaf[row])
			for n := range pathOf(tr, q.Leaf) {
				nodes[n] = true
			}
			for n := range nodes {
				walks[n]++
			}
			if q.Reuse == 0 {
				if q.Leaf != tr.Leaf[row] {
					t.Errorf("row %d: another path, and nothing bound", row)
				}
				continue
			}
			if q.Reuse <= q.Prompt || q.Reuse >= q.Prompt+q.Output || q.Reuse > tr.Forest.End[q.Leaf] || cfg.ReuseOutput == ReuseOff {
				t.Errorf("row %d of prompt %d and output %d: %d tokens bound to a path of %d", row, q.Prompt, q.Output, q.Reuse, tr.Forest.End[q.Leaf])
			}
			if !goesOnLater(tr, row, q.Leaf, cfg.ReuseOutput == ReuseAll) {
				t.Errorf("row %d: no later request goes on from its answer", row)
			}
		}
		for n, want := range walks {
			if got := s.forest().Walks[n]; got != want {
				t.Errorf("node %d is walked %d times, want %d", n, got, want)
			}
		}
	})
}

// goesOnLater looks for a later request, of the same session unless any will do, that walks leaf and whose prompt has
// room for the row's prompt and answer.
func goesOnLater(tr *traces.Trace, row int, leaf int32, any bool) bool {
	for later := row + 1; later < tr.Len(); later++ {
		same := tr.Session[row] != 0 && tr.Session[row] == tr.Session[later]
		if (any || same) && pathOf(tr, tr.Leaf[later])[leaf] && tr.Prompt[later] >= tr.Prompt[row]+tr.Output[row] {
			return true
		}
	}
	return false
}

func TestWhichOutputsAreBound(t *testing.T) {
	const first = `{"timestamp":0,"input_length":40,"output_length":30,"hash_ids":[1,2,3]` // the third block is a tail
	for name, c := range map[string]struct {
		reuse ReuseOutput
		lines []string
		want  int32
	}{
		"next turn":      {ReuseKnown, []string{first + `,"session_id":"a"}`, `{"timestamp":9,"input_length":80,"output_length":1,"hash_ids":[1,2,4,5,6],"session_id":"a"}`}, 69},
		"off":            {ReuseOff, []string{first + `,"session_id":"a"}`, `{"timestamp":9,"input_length":80,"output_length":1,"hash_ids":[1,2,4,5,6],"session_id":"a"}`}, 0},
		"thoughts cut":   {ReuseKnown, []string{first + `,"session_id":"a"}`, `{"timestamp":9,"input_length":64,"output_length":1,"hash_ids":[1,2,4,5],"session_id":"a"}`}, 0},
		"another prompt": {ReuseKnown, []string{first + `,"session_id":"a"}`, `{"timestamp":9,"input_length":80,"output_length":1,"hash_ids":[1,9,4,5,6],"session_id":"a"}`}, 0},
		"no session":     {ReuseKnown, []string{first + `}`, `{"timestamp":9,"input_length":80,"output_length":1,"hash_ids":[1,2,4,5,6]}`}, 0},
		"shared tail":    {ReuseKnown, []string{first + `,"session_id":"a"}`, first + `}`, `{"timestamp":9,"input_length":80,"output_length":1,"hash_ids":[1,2,4,5,6],"session_id":"a"}`}, 0},
		"inferred":       {ReuseAll, []string{`{"timestamp":0,"input_length":32,"output_length":30,"hash_ids":[1,2]}`, `{"timestamp":9,"input_length":80,"output_length":1,"hash_ids":[1,2,4,5,6]}`}, 61},
		"not inferred":   {ReuseAll, []string{`{"timestamp":0,"input_length":32,"output_length":30,"hash_ids":[1,2]}`, `{"timestamp":9,"input_length":61,"output_length":1,"hash_ids":[1,2,4,5]}`}, 0},
	} {
		cfg := small()
		cfg.ReuseOutput = c.reuse
		s, err := Prepare(cfg, fromText(t, strings.Join(c.lines, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.sequence(0, 0).Reuse; got != c.want {
			t.Errorf("%s: %d tokens bound, want %d", name, got, c.want)
		}
		if warned := strings.Contains(strings.Join(s.warnings, "\n"), "--reuse-output=auto"); warned != (name == "inferred") {
			t.Errorf("%s: warnings %q", name, s.warnings)
		}
	}
}
