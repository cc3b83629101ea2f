package traces

import "fmt"

// tailOf returns the rule that n block ids for a prompt follow, "" if both rules fit, or an error that says which
// block sizes would fit.
func tailOf(n int, prompt, size int32) (BlockTail, error) {
	if size < 1 {
		return "", fmt.Errorf("%d hash ids, but the file has no block_size; want --trace-block-size", n)
	}
	floor := int(prompt / size)
	switch {
	case n == floor && int(prompt%size) == 0:
		return "", nil
	case n == floor:
		return TailFloor, nil
	case n == floor+1 && int(prompt%size) != 0:
		return TailCeil, nil
	}
	return "", misfit(n, int(prompt), int(size))
}

func misfit(n, prompt, size int) error {
	need := (prompt + size - 1) / size
	what := fmt.Sprintf("%d hash ids cannot cover %d tokens in blocks of %d (%d needed)", n, prompt, size, need)
	if n > need {
		what = fmt.Sprintf("%d hash ids are too many for %d tokens in blocks of %d (%d needed)", n, prompt, size, need)
	}
	ceil, floor := sizesThatFit(n, prompt)
	if n == 0 {
		return fmt.Errorf("%s; leave hash_ids out if the identity is unknown", what)
	}
	if ceil.empty() && floor.empty() {
		return fmt.Errorf("%s; no block size fits", what)
	}
	fit := fmt.Sprintf("a block size of %v would fit (%v if the last, partly filled block has no id)", ceil, floor)
	likely := span{floor.lo, ceil.hi}
	switch {
	case ceil.empty():
		fit = fmt.Sprintf("a block size of %v would fit if the last, partly filled block has no id", floor)
		likely = floor
	case floor.empty():
		fit = fmt.Sprintf("a block size of %v would fit", ceil)
		likely = ceil
	}
	if likely.hi >= maxTokens { // hardly a bound: no guess is better than another
		return fmt.Errorf("%s; %s", what, fit)
	}
	return fmt.Errorf("%s; %s; did you mean --trace-block-size %d?", what, fit, likely.likely())
}

// span is a range of block sizes, both ends included.
type span struct{ lo, hi int }

func (s span) empty() bool { return s.lo > s.hi }

func (s span) String() string {
	switch {
	case s.hi >= maxTokens:
		return fmt.Sprintf("%d or more", s.lo)
	case s.lo == s.hi:
		return fmt.Sprint(s.lo)
	}
	return fmt.Sprintf("%d to %d", s.lo, s.hi)
}

// likely returns the roundest number of a range: the smallest multiple of the largest power of two that has one.
func (s span) likely() int {
	for p := 1024; p > 1; p /= 2 {
		if m := (s.lo + p - 1) / p * p; m <= s.hi {
			return m
		}
	}
	return s.lo
}

// sizesThatFit returns the block sizes under which a prompt has n ids, with one for a partly filled last block and
// without.
func sizesThatFit(n, prompt int) (ceil, floor span) {
	ceil, floor = span{(prompt + max(n, 1) - 1) / max(n, 1), maxTokens}, span{prompt/(n+1) + 1, maxTokens}
	if n > 1 {
		ceil.hi = (prompt - 1) / (n - 1)
	}
	if n > 0 {
		floor.hi = prompt / n
	} else {
		ceil = span{1, 0}
	}
	return ceil, floor
}
