package enginetest

import "pgregory.net/rapid"

// refDraw is where a case's choices come from.
type refDraw interface {
	// Int returns a number from lo to hi, both included.
	Int(lo, hi int, name string) int
}

// refRapid lets rapid choose, which can shrink what it chose.
type refRapid struct{ t *rapid.T }

func (d refRapid) Int(lo, hi int, name string) int { return rapid.IntRange(lo, hi).Draw(d.t, name) }

// refBytes reads the choices from bytes, so that any bytes are a case: one a choice, or four where one is too few. The
// end reads as zeros.
type refBytes struct{ data []byte }

func (d *refBytes) Int(lo, hi int, _ string) int {
	span, x := uint64(hi-lo)+1, uint64(0)
	for n := 0; n == 0 || span > 256 && n < 4; n++ {
		x <<= 8
		if len(d.data) > 0 {
			x |= uint64(d.data[0])
			d.data = d.data[1:]
		}
	}
	return lo + int(x%span)
}

// refPick chooses one of some values.
func refPick[T any](d refDraw, values []T, name string) T {
	return values[d.Int(0, len(values)-1, name)]
}
