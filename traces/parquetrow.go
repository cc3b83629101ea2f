package traces

import (
	"fmt"
)

// rows are the columns of a row group.
type rows struct {
	n                                                       int
	arrival, line, parent, turn, think, prompt, output, max column[int64]
	cached, tail, ttft, e2e, prefixRow, prefixBlocks, flags column[int64]
	id, model, adapter, tenant, session, slo                column[string]
	replica, status, policy, finish                         column[string]
	blocks                                                  [][]int64 // nil if the file has no such column
	outcomes                                                bool      // it is a file of outcomes
	compact                                                 bool      // rows list only what they do not share with an earlier one
}

// rows reads what is there.
func (g *group) rows() *rows {
	r := &rows{
		n: int(g.rg.NumRows()), outcomes: g.has("policy"), compact: g.has("prefix_row") || g.has("prefix_blocks"),
		prefixRow: g.ints("prefix_row"), prefixBlocks: g.ints("prefix_blocks"), flags: g.ints("flags"), finish: g.strings("finish"),
		arrival: g.required("arrival_ns"), line: g.ints("src_line"), prompt: g.required("prompt_tokens"),
		output: g.ints("output_tokens"), max: g.ints("max_tokens"), parent: g.ints("parent_row"),
		turn: g.ints("turn"), think: g.ints("think_ns"), cached: g.ints("cached_tokens_obs"),
		tail: g.ints("tail_block"), ttft: g.ints("ttft_ns_obs"), e2e: g.ints("e2e_ns_obs"),
		id: g.strings("request_id"), model: g.strings("model"), adapter: g.strings("adapter"),
		tenant: g.strings("tenant"), session: g.strings("session"), slo: g.strings("slo"),
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
	rec.ArrivalNs, rec.Line = r.arrival.at(i), r.line.at(i)
	if rec.Line == Unknown {
		rec.Line = number
	}
	rec.ID, rec.Model, rec.Adapter, rec.Tenant = r.id.at(i), r.model.at(i), r.adapter.at(i), r.tenant.at(i)
	rec.Session, rec.SLO, rec.ReplicaObs = r.session.at(i), r.slo.at(i), r.replica.at(i)
	rec.ParentRow, rec.ThinkNs = r.parent.at(i), r.think.at(i)
	rec.TTFTNsObs, rec.E2ENsObs = r.ttft.at(i), r.e2e.at(i)
	c := counts{row: i}
	rec.PromptTokens = c.get("prompt_tokens", &r.prompt, 1)
	rec.OutputTokens = c.get("output_tokens", &r.output, Unknown)
	rec.MaxTokens = c.get("max_tokens", &r.max, Unknown)
	rec.CachedTokensObs = c.get("cached_tokens_obs", &r.cached, Unknown)
	rec.Turn = c.get("turn", &r.turn, Unknown)
	rec.Flags = max(c.get("flags", &r.flags, Unknown), 0)
	rec.Finish = r.finish.at(i)
	if c.err != nil {
		return rec, c.err
	}
	if rec.ArrivalNs < 0 {
		return rec, fmt.Errorf("arrival_ns is %d, want at least 0", rec.ArrivalNs)
	}
	r.setBlocks(&rec, i)
	return rec, r.setStatus(&rec, i)
}

// counts reads numbers of a row that an int32 holds, and keeps the first error.
type counts struct {
	row int
	err error
}

func (c *counts) get(name string, col *column[int64], least int64) int32 {
	v := col.at(c.row)
	if err := checkTokens(name, v, least); err != nil && c.err == nil {
		c.err = err
	}
	return int32(v)
}

func (r *rows) setBlocks(rec *Record, i int) {
	if r.blocks == nil || r.blocks[i] == nil {
		return
	}
	rec.Blocks = r.blocks[i]
	if tail := r.tail.at(i); tail != Unknown {
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
