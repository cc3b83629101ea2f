package sim

// Streams of chance, so that no purpose draws another's numbers.
const (
	keyStream uint64 = iota + 1
	tieStream
	routerStream
)

// hash mixes a seed, an index and a stream into 64 bits: SplitMix64's finish (Steele, Lea, Flood, OOPSLA 2014) over each.
func hash(seed, i, stream uint64) uint64 {
	return finish(finish(finish(seed)^i) ^ stream)
}

func finish(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unit returns a number in [0, 1).
func unit(seed, i, stream uint64) float64 {
	return float64(hash(seed, i, stream)>>11) / (1 << 53)
}
