package traces

import "iter"

// Records yields the rows in order, with dense block ids: numbers by first appearance. They and the trace's block
// size give the same forest again.
func (t *Trace) Records() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		first := t.firstIDs()
		for row := range t.Len() {
			if !yield(t.record(row, first)) {
				return
			}
		}
	}
}

// firstIDs returns the dense id of each node's first block. Nodes are numbered by first walk and walked whole, so
// that ids count through them; the last entry is the number of blocks.
func (t *Trace) firstIDs() []int64 {
	first := make([]int64, len(t.Forest.End)+1)
	for n := range t.Forest.End {
		first[n+1] = first[n] + int64(t.blocks(int32(n)))
	}
	return first
}

// blocks counts the blocks of a node, a partial one too.
func (t *Trace) blocks(n int32) int32 {
	size := t.Meta.BlockSize
	return (t.nodeTokens(n) + size - 1) / size
}

func (t *Trace) nodeTokens(n int32) int32 {
	if p := t.Forest.Parent[n]; p >= 0 {
		return t.Forest.End[n] - t.Forest.End[p]
	}
	return t.Forest.End[n]
}

func (t *Trace) record(row int, first []int64) Record {
	r := Record{
		ArrivalNs:    t.ArrivalNs[row],
		Line:         t.Line[row],
		Model:        t.Strings[t.Model[row]],
		Adapter:      t.Strings[t.Adapter[row]],
		Tenant:       t.Strings[t.Tenant[row]],
		Session:      t.Strings[t.Session[row]],
		SLO:          t.Strings[t.SLO[row]],
		PrefixKey:    t.Strings[t.PrefixKey[row]],
		PromptTokens: t.Prompt[row],
		OutputTokens: t.Output[row],
		MaxTokens:    t.MaxTokens[row],
	}
	t.extra.get(row, &r)
	if t.Identified(row) {
		r.Blocks = t.path(t.Leaf[row], first)
	}
	return r
}

// path returns the dense ids from the root to the end of a leaf.
func (t *Trace) path(leaf int32, first []int64) []int64 {
	if leaf < 0 {
		return []int64{}
	}
	size := t.Meta.BlockSize
	ids := make([]int64, (t.Forest.End[leaf]+size-1)/size)
	end := len(ids)
	for n := leaf; n >= 0; n = t.Forest.Parent[n] {
		for id := first[n+1] - 1; id >= first[n]; id-- {
			end--
			ids[end] = id
		}
	}
	return ids
}
