package policies

// mix hashes two words into one. For a fixed a it is a bijection of b, so that different b never collide. The finish
// is SplitMix64's (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
func mix(a, b uint64) uint64 {
	x := (a + 0x9e3779b97f4a7c15) * 0xd1342543de82ef95
	x ^= x >> 32
	x ^= b
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Salt returns the stable hash of a replica's name that Replica.Salt wants: FNV-1a, mixed. It is the same in every
// process and on every machine.
func Salt(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return mix(h, uint64(len(name)))
}
