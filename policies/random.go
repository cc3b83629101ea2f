package policies

// Random picks a capable replica by a hash of the seed and the request's key: the same request gets the same replica
// in every run, and each replica is equally likely.
type Random struct {
	Seed uint64
}

var _ Policy = (*Random)(nil)

// Pick chooses the replica whose hash is smallest.
func (p *Random) Pick(r *Request, v *View, d *Decision) {
	key := mix(p.Seed, r.Key)
	pickPlain(r, v, d, func(i, j int) bool {
		return mix(key, v.Replicas[i].Salt) < mix(key, v.Replicas[j].Salt)
	})
}
