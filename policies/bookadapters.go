package policies

import "slices"

// use counts a request in flight with an adapter. Lists are as long as the adapters in use, and keep their memory.
func (b *Book) use(replica int, adapter ID) {
	if at := slices.Index(b.InUse[replica], adapter); at >= 0 {
		b.users[replica][at]++
		return
	}
	b.InUse[replica] = append(b.InUse[replica], adapter)
	b.users[replica] = append(b.users[replica], 1)
}

// unuse takes a request back. The last adapter takes the place of one that nobody uses any more.
func (b *Book) unuse(replica int, adapter ID) {
	ids, users := b.InUse[replica], b.users[replica]
	at := slices.Index(ids, adapter)
	if users[at]--; users[at] > 0 {
		return
	}
	last := len(ids) - 1
	ids[at], users[at] = ids[last], users[last]
	b.InUse[replica], b.users[replica] = ids[:last], users[:last]
}
