package sim

import (
	"fmt"
	"slices"
	"sort"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/traces"
)

// ReuseOutput says for which requests generated tokens may be hit by a later prompt that begins with prompt and output.
type ReuseOutput string

const (
	ReuseKnown ReuseOutput = "auto"  // those whose next turn the trace names
	ReuseAll   ReuseOutput = "true"  // those too whose whole prompt begins a later one that has room for the output
	ReuseOff   ReuseOutput = "false" // none
)

// ReuseOutputs are the values of ReuseOutput.
var ReuseOutputs = []ReuseOutput{ReuseKnown, ReuseAll, ReuseOff}

// bound is what generated tokens are known by.
type bound struct {
	leaf  []int32 // by row: the node at which the sequence's path ends
	reuse []int32 // by row: tokens of prompt and output that it names; 0 is the prompt alone
	count int     // rows with more than the prompt

	inferred int // of those, rows whose next turn the trace does not name
}

// bindOutputs finds the requests whose output begins a later prompt, and returns the walks of the forest's nodes with
// those added.
func (s *Stage) bindOutputs() []int32 {
	t := s.trace
	if t.Len() == 0 { // nothing is to be played: the pools alone are of interest
		return t.Forest.Walks
	}
	next, named := s.followers()
	if next == nil {
		return t.Forest.Walks
	}
	b := &bound{leaf: slices.Clone(t.Leaf), reuse: make([]int32, t.Len())}
	walks := slices.Clone(t.Forest.Walks)
	for row, later := range next {
		if later == traces.Unknown {
			continue
		}
		if leaf, tokens := s.goesOn(row, int(later)); tokens > t.Prompt[row] {
			b.leaf[row], b.reuse[row] = leaf, tokens
			b.count++
			if !named(row) {
				b.inferred++
			}
			s.walk(walks, t.Leaf[row], leaf)
		}
	}
	if b.count == 0 {
		return t.Forest.Walks
	}
	s.bound = b
	return walks
}

// followers returns by row a later one whose prompt may go on from its output, Unknown if there is none, and whether the
// trace names it; nil if there is none at all.
func (s *Stage) followers() (next []int32, named func(row int) bool) {
	before := []int32(nil)
	if s.cfg.ReuseOutput != ReuseOff {
		before = s.trace.Previous()
	}
	if before == nil && s.cfg.ReuseOutput != ReuseAll {
		return nil, nil
	}
	next = make([]int32, s.cfg.Limit)
	for row := range next {
		next[row] = traces.Unknown
	}
	for row := len(next) - 1; row >= 0 && before != nil; row-- {
		if p := before[row]; p != traces.Unknown {
			next[p] = int32(row) // of several the first
		}
	}
	named = func(row int) bool { return before != nil && before[next[row]] == int32(row) }
	if s.cfg.ReuseOutput == ReuseAll {
		s.infer(next)
	}
	return next, named
}

// infer adds the first later request whose prompt begins with the whole identified prompt of a row and has room for its
// output. Going backwards, by node, coming has the requests after the row that walk it, the next one last: but for those
// that a sooner one of no shorter prompt makes superfluous.
func (s *Stage) infer(next []int32) {
	t := s.trace
	coming := make([][]int32, len(t.Forest.Parent))
	for row := len(next) - 1; row >= 0; row-- {
		leaf := t.Leaf[row]
		if leaf == traces.Unknown {
			continue
		}
		if all := coming[leaf]; next[row] == traces.Unknown {
			room := sort.Search(len(all), func(i int) bool { return t.Prompt[all[i]] < s.end(row) })
			if room > 0 {
				next[row] = all[room-1]
			}
		}
		for n := leaf; n >= 0; n = t.Forest.Parent[n] {
			all := coming[n]
			for len(all) > 0 && t.Prompt[all[len(all)-1]] <= t.Prompt[row] {
				all = all[:len(all)-1]
			}
			coming[n] = append(all, int32(row))
		}
	}
}

// end returns the tokens of a row's prompt and output.
func (s *Stage) end(row int) int32 { return s.trace.Prompt[row] + max(1, s.trace.Output[row]) }

// goesOn returns up to which node and token the path of a later prompt names a row's prompt and output; the last token is
// never stored. No token more than the prompt if the later prompt does not begin with both, as far as can be known: it is
// too short for them, or leaves the whole blocks of the row's prompt. (The tail of a prompt, less than a block of the
// trace, differs from the block that later text fills. A row that shares its tail with others keeps it.)
func (s *Stage) goesOn(row, later int) (leaf, tokens int32) {
	t := s.trace
	leaf = t.Leaf[later]
	if t.Leaf[row] == traces.Unknown || leaf == traces.Unknown || t.Prompt[later] < s.end(row) {
		return leaf, 0
	}
	whole := t.Forest.End[t.Leaf[row]]
	if b := t.Meta.BlockSize; b > 0 {
		whole = whole / b * b
	}
	own := t.Leaf[row]
	together := s.shared(own, leaf)
	if together < whole || together < t.Forest.End[own] && t.Forest.Walks[own] > 1 {
		return leaf, 0
	}
	tokens = min(s.end(row)-1, t.Forest.End[leaf])
	for p := t.Forest.Parent[leaf]; p >= 0 && t.Forest.End[p] >= tokens; p = t.Forest.Parent[leaf] {
		leaf = p
	}
	return leaf, tokens
}

// walk counts a walk to a node, but for what it shares with a walk that is counted.
func (s *Stage) walk(walks []int32, counted, to int32) {
	f := &s.trace.Forest
	for a := counted; to >= 0 && to != a; {
		if a > to {
			a = f.Parent[a]
			continue
		}
		walks[to]++
		to = f.Parent[to]
	}
}

// path returns where a row's path ends, and how much of prompt and output it names if that is more than the prompt.
func (s *Stage) path(row int32) (leaf, reuse int32) {
	if s.bound == nil {
		return s.trace.Leaf[row], 0
	}
	return s.bound.leaf[row], s.bound.reuse[row]
}

// assumed is the doubt about answers whose next turn was inferred, "" if there are none. Where the trace names it, the
// later prompt is known to have room for the whole answer, so that nothing of it was left out.
func (s *Stage) assumed() string {
	if s.bound == nil || s.bound.inferred == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d answers are taken to go on in a later prompt that begins with theirs, though the trace does not say so; not so with models that strip their reasoning: --reuse-output=auto",
		s.bound.inferred, s.cfg.Limit)
}

// reused is how many answers later prompts can hit.
func (s *Stage) reused() int {
	if s.bound == nil {
		return 0
	}
	return s.bound.count
}

// forest returns the engine's view of the trace's prefix forest.
func (s *Stage) forest() *engine.Forest {
	f := &s.trace.Forest
	return &engine.Forest{Parent: f.Parent, End: f.End, Walks: s.bindOutputs()}
}

// Binding is which answers of a trace later prompts of it can hit.
type Binding struct {
	Walks []int32 // of the forest's nodes, those of answers included
	stage *Stage
}

// BindOutputs binds answers where the trace names the next turn, as a run does.
func BindOutputs(t *traces.Trace) Binding {
	s := &Stage{trace: t, cfg: Config{Limit: t.Len(), ReuseOutput: ReuseKnown}}
	return Binding{s.bindOutputs(), s}
}

// Path returns where a row's path ends and how much of prompt and output it names, see engine.Sequence.
func (b Binding) Path(row int32) (leaf, reuse int32) { return b.stage.path(row) }
