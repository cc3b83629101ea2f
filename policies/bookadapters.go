package policies

import "slices"

// mostIdle bounds the adapters that a router remembers of a replica: no server has more slots.
const mostIdle = 128

// Forget drops the memory of adapters that a replica may still have loaded, as after a restart.
func (b *Book) Forget(replica int) { b.Idle[replica] = b.Idle[replica][:0] }

// use counts a request in flight with an adapter. Lists are as long as the adapters in use, and keep their memory.
func (b *Book) use(replica int, adapter ID) {
	if at := slices.Index(b.InUse[replica], adapter); at >= 0 {
		b.users[replica][at]++
		return
	}
	if at := slices.Index(b.Idle[replica], adapter); at >= 0 {
		b.Idle[replica] = slices.Delete(b.Idle[replica], at, at+1)
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
	if len(b.Idle[replica]) == mostIdle {
		b.Idle[replica] = slices.Delete(b.Idle[replica], 0, 1)
	}
	b.Idle[replica] = append(b.Idle[replica], adapter)
}
