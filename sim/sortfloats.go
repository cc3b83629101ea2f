package sim

import (
	"math"
	"slices"
)

// digit is how many bits a pass of sortFloats looks at.
const digit = 11

// sortFloats sorts numbers, none of them NaN. It is a radix sort over the bits, from the lowest digit up: a search sorts
// three samples a replay, and slices.Sort took a quarter of its time.
func sortFloats(x []float64) {
	if len(x) < 1<<digit {
		slices.Sort(x)
		return
	}
	keys, spare := make([]uint64, len(x)), make([]uint64, len(x))
	for i, v := range x {
		keys[i] = ordered(math.Float64bits(v))
	}
	for shift := 0; shift < 64; shift += digit {
		var start [1<<digit + 1]int
		for _, k := range keys {
			start[k>>shift&(1<<digit-1)+1]++
		}
		for d := range 1 << digit {
			start[d+1] += start[d]
		}
		for _, k := range keys {
			d := k >> shift & (1<<digit - 1)
			spare[start[d]] = k
			start[d]++
		}
		keys, spare = spare, keys
	}
	for i, k := range keys {
		x[i] = math.Float64frombits(unordered(k))
	}
}

// ordered maps the bits of floats to numbers in the same order: negative floats are turned over, the others go above them.
func ordered(b uint64) uint64 { return b ^ (uint64(int64(b)>>63) | 1<<63) }

// unordered undoes ordered.
func unordered(k uint64) uint64 { return k ^ (uint64(int64(^k)>>63) | 1<<63) }
