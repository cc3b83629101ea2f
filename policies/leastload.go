package policies

// LeastRequest picks the replica with the fewest requests in flight in the router's own book.
type LeastRequest struct{}

var _ Policy = (*LeastRequest)(nil)

// Pick chooses the replica with the fewest requests in flight.
func (*LeastRequest) Pick(r *Request, v *View, d *Decision) {
	pickPlain(r, v, d, func(i, j int) bool { return lighter(r, v, i, j) })
}
