package traces

import "fmt"

// prefixes are the rows of a compact file so far. There, a row that shares its first blocks with an earlier one names
// it (prefix_row, 0-based in file order) and their number (prefix_blocks), and lists only the ids that follow.
type prefixes struct{ rows []prefix }

// prefix is what a row lists: full blocks of another row, which lists at least the last of them itself, then its own.
type prefix struct {
	row    int
	shared int
	own    []int64
	known  bool // whether the row has an identity
}

// add takes the next row. Row and shared are Unknown where the file has a null, own is nil.
func (p *prefixes) add(row, shared int64, own []int64) error {
	next := prefix{own: own, known: own != nil || row != Unknown && shared > 0}
	here := len(p.rows)
	p.rows = append(p.rows, next)
	switch {
	case row == Unknown && shared <= 0:
		return nil
	case row == Unknown:
		return fmt.Errorf("prefix_blocks is %d, but prefix_row is null; want an earlier row", shared)
	case row < 0 || row >= int64(here):
		return fmt.Errorf("prefix_row is %d, want an earlier row (this is row %d)", row, here)
	case shared < 0:
		return fmt.Errorf("prefix_row is %d, but prefix_blocks is %s; want a number of blocks", row, orNull(shared))
	}
	from := p.rows[row]
	if !from.known && shared > 0 {
		return fmt.Errorf("prefix_row is %d, which has no blocks: its identity is unknown", row)
	}
	if n := from.shared + len(from.own); shared > int64(n) {
		return fmt.Errorf("prefix_blocks is %d, but row %d has %d full blocks", shared, row, n)
	}
	next.row, next.shared = p.lister(int(row), int(shared)), int(shared)
	p.rows[here] = next
	return nil
}

// lister follows references from a row to the one that lists the last of its first n blocks. So every step of blocks
// copies something, however long a chain of rows is.
func (p *prefixes) lister(row, n int) int {
	for p.rows[row].shared >= n && n > 0 {
		row = p.rows[row].row
	}
	return row
}

// last returns all full blocks of the row added last, nil without an identity. There is room for one more.
func (p *prefixes) last() []int64 {
	at := p.rows[len(p.rows)-1]
	if !at.known {
		return nil
	}
	end := at.shared + len(at.own)
	ids := make([]int64, end, end+1)
	for end > 0 {
		copy(ids[at.shared:end], at.own)
		end, at = at.shared, p.rows[at.row]
	}
	return ids
}

func orNull(v int64) string {
	if v == Unknown {
		return "null"
	}
	return fmt.Sprint(v)
}
