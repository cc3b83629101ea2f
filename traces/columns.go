package traces

// columns are what only writers need. A column costs nothing until a row says something.
type columns struct {
	id      column[string]
	parent  column[int64]
	turn    column[int32]
	think   column[int64]
	cached  column[int32]
	ttft    column[int64]
	e2e     column[int64]
	replica column[string]
	status  column[Status]
	finish  column[string]
	flags   column[int32]
	empty   column[bool] // the identity is known and has no block
}

func newColumns() *columns {
	return &columns{
		parent: column[int64]{missing: Unknown},
		turn:   column[int32]{missing: Unknown},
		think:  column[int64]{missing: Unknown},
		cached: column[int32]{missing: Unknown},
		ttft:   column[int64]{missing: Unknown},
		e2e:    column[int64]{missing: Unknown},
	}
}

func (c *columns) put(row int, r *Record) {
	c.id.put(row, r.ID)
	c.parent.put(row, r.ParentRow)
	c.turn.put(row, r.Turn)
	c.think.put(row, r.ThinkNs)
	c.cached.put(row, r.CachedTokensObs)
	c.ttft.put(row, r.TTFTNsObs)
	c.e2e.put(row, r.E2ENsObs)
	c.replica.put(row, r.ReplicaObs)
	c.status.put(row, r.Status)
	c.finish.put(row, r.Finish)
	c.flags.put(row, r.Flags)
	c.empty.put(row, r.Blocks != nil && len(r.Blocks) == 0)
}

func (c *columns) get(row int, r *Record) {
	r.ID = c.id.at(row)
	r.ParentRow = c.parent.at(row)
	r.Turn = c.turn.at(row)
	r.ThinkNs = c.think.at(row)
	r.CachedTokensObs = c.cached.at(row)
	r.TTFTNsObs = c.ttft.at(row)
	r.E2ENsObs = c.e2e.at(row)
	r.ReplicaObs = c.replica.at(row)
	r.Status = c.status.at(row)
	r.Finish = c.finish.at(row)
	r.Flags = c.flags.at(row)
}

// permute puts row order[i] at i. Parents are rows too and move along.
func (c *columns) permute(order []int32) {
	c.id.permute(order)
	c.parent.permute(order)
	c.turn.permute(order)
	c.think.permute(order)
	c.cached.permute(order)
	c.ttft.permute(order)
	c.e2e.permute(order)
	c.replica.permute(order)
	c.status.permute(order)
	c.finish.permute(order)
	c.flags.permute(order)
	c.empty.permute(order)
	if c.parent.values == nil {
		return
	}
	now := make([]int64, len(order))
	for i, old := range order {
		now[old] = int64(i)
	}
	for i, p := range c.parent.values {
		if p >= 0 {
			c.parent.values[i] = now[p]
		}
	}
}

// column is a list of values that is stored only from the first one that is not missing.
type column[T comparable] struct {
	missing T
	values  []T
}

// put sets a row; rows come in order.
func (c *column[T]) put(row int, v T) {
	if v == c.missing {
		return
	}
	c.pad(row)
	c.values = append(c.values, v)
}

// pad makes all rows before one explicit.
func (c *column[T]) pad(row int) {
	for len(c.values) < row {
		c.values = append(c.values, c.missing)
	}
}

func (c *column[T]) at(row int) T {
	if row < len(c.values) {
		return c.values[row]
	}
	return c.missing
}

func (c *column[T]) permute(order []int32) {
	if c.values == nil {
		return
	}
	moved := make([]T, len(order))
	for i, old := range order {
		moved[i] = c.at(int(old))
	}
	c.values = moved
}

// reorder returns v in the given order: element order[i] at i.
func reorder[T any](v []T, order []int32) []T {
	moved := make([]T, len(order))
	for i, old := range order {
		moved[i] = v[old]
	}
	return moved
}
