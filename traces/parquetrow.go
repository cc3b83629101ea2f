package traces

import (
	"fmt"
)

// rows are the columns of a row group.
type rows struct {
	n                                                       int
	arrival, line, parent, turn, think, prompt, output, max column[int64]
	cached, tail, ttft, e2e, prefixRow, prefixBlocks, flags column[int64]
	id, model, adapter, tenant, session, slo, prefixKey     column[string]
	replica, status, policy, finish                         column[string]
	blocks                                                  [][]int64 // nil if the file has no such column
	outcomes                                                bool      // it is a file of outcomes
	compact                                                 bool      // rows list only what they do not share with an earlier one
}

// rows reads what is there.
func (g *group) rows() *rows {
	r := &rows{
		n: int(g.rg.NumRows()), outcomes: g.has("policy"), compact: g.has("prefix_row") || g.has("prefix_blocks"),
		prefixRow: g.ints("prefix_row"), prefixBlocks: g.ints("prefix_blocks"), flags: g.given("flags", 0), finish: g.strings("finish"),
		arrival: g.required("arrival_ns"), line: g.given("src_line", Unknown), prompt: g.required("prompt_tokens"),
		output: g.ints("output_tokens"), max: g.ints("max_tokens"), parent: g.ints("parent_row"),
		turn: g.ints("turn"), think: g.ints("think_ns"), cached: g.ints("cached_tokens_obs"),
		tail: g.ints("tail_block"), ttft: g.ints("ttft_ns_obs"), e2e: g.ints("e2e_ns_obs"),
		id: g.strings("request_id"), model: g.strings("model"), adapter: g.strings("adapter"),
		tenant: g.strings("tenant"), session: g.strings("session"), slo: g.strings("slo"), prefixKey: g.strings("prefix_key"),
		replica: g.strings("replica_obs"), policy: g.strings("policy"), blocks: g.lists("blocks"),
	}
	status := "status"
	if r.outcomes { // theirs is the run's
		status = "src_status"
	}
	r.status = g.strings(status)
	return r
}

// record makes the record of row i, which is a row of the file counted from 1.
func (r *rows) record(i int, number int64) (Record, error) {
	rec := NewRecord()
	rec.ID, rec.Model, rec.Adapter, rec.Tenant = r.id.at(i), r.model.at(i), r.adapter.at(i), r.tenant.at(i)
	rec.Session, rec.SLO, rec.ReplicaObs, rec.Finish = r.session.at(i), r.slo.at(i), r.replica.at(i), r.finish.at(i)
	rec.PrefixKey = r.prefixKey.at(i)
	n := numbers{row: i}
	rec.ArrivalNs = n.number("arrival_ns", &r.arrival)
	if rec.Line = number; r.line.missing == null {
		rec.Line = n.number("src_line", &r.line)
	}
	rec.ParentRow, rec.ThinkNs = n.optional("parent_row", &r.parent), n.optional("think_ns", &r.think)
	rec.TTFTNsObs, rec.E2ENsObs = n.optional("ttft_ns_obs", &r.ttft), n.optional("e2e_ns_obs", &r.e2e)
	rec.PromptTokens = n.tokens("prompt_tokens", n.number("prompt_tokens", &r.prompt), 1)
	rec.OutputTokens = n.optionalTokens("output_tokens", &r.output)
	rec.MaxTokens = n.optionalTokens("max_tokens", &r.max)
	rec.CachedTokensObs = n.optionalTokens("cached_tokens_obs", &r.cached)
	rec.Turn = n.optionalTokens("turn", &r.turn)
	rec.Flags = n.tokens("flags", n.number("flags", &r.flags), 0)
	if n.err != nil {
		return rec, n.err
	}
	r.setBlocks(&rec, i)
	return rec, r.setStatus(&rec, i)
}

// numbers reads the numbers of a row and keeps the first error.
type numbers struct {
	row int
	err error
}

func (n *numbers) fail(format string, args ...any) {
	if n.err == nil {
		n.err = fmt.Errorf(format, args...)
	}
}

// number reads what every row has, at least 0.
func (n *numbers) number(name string, col *column[int64]) int64 {
	v := col.at(n.row)
	switch {
	case v == null:
		n.fail("%s is null, want a number", name)
	case v < 0:
		n.fail("%s is %d, want at least 0", name, v)
	}
	return v
}

// optional reads what a row may have, at least 0.
func (n *numbers) optional(name string, col *column[int64]) int64 {
	v := col.at(n.row)
	if v < 0 && v != null {
		n.fail("%s is %d, want at least 0, or null if it is unknown", name, v)
	}
	return nullUnknown(v)
}

func (n *numbers) optionalTokens(name string, col *column[int64]) int32 {
	return n.tokens(name, n.optional(name, col), Unknown)
}

// tokens bounds a number to what an int32 holds.
func (n *numbers) tokens(name string, v, least int64) int32 {
	if err := checkTokens(name, v, least); err != nil {
		n.fail("%w", err)
	}
	return int32(v)
}

func (r *rows) setBlocks(rec *Record, i int) {
	if r.blocks == nil || r.blocks[i] == nil {
		return
	}
	rec.Blocks = r.blocks[i]
	if tail := r.tail.at(i); tail != null {
		rec.Blocks = append(rec.Blocks, tail) // there is room, see listReader.lists
	}
}

func (r *rows) setStatus(rec *Record, i int) error {
	name := r.status.at(i)
	if name == "" {
		return nil
	}
	for s, n := range statusNames {
		if n == name {
			rec.Status = Status(s)
			return nil
		}
	}
	return fmt.Errorf("status is %q, want one of %q", name, statusNames)
}
