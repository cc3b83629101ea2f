package traces

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Params describe made-up traffic: tenants, each with a system prompt that all its sessions share; sessions of
// several turns, in which a prompt is the prompt before, its answer and new text; bursts. The same Params make the
// same trace.
type Params struct {
	Seed     uint64  // of every random choice
	Requests int     // requests to make, 1 to 50 million
	Rate     float64 // mean requests per second, once sessions have built up to their usual number
	Burst    Burst   // the zero Burst is plain Poisson traffic

	Tenants int     // at least 1
	Skew    float64 // Zipf exponent of the tenants' popularity; 0 makes them equal
	System  Length  // tokens of a tenant's system prompt, shared by all its sessions

	Document Length // tokens of private text that a session starts with; the zero Length is none
	User     Length // tokens of new text in a turn
	Output   Length // tokens of an answer

	Turns     float64 // mean turns of a session (geometric), at least 1
	MaxTurns  int     // a session ends after this many turns; 0 is no limit
	MaxPrompt int     // a session ends before its prompt is longer, and a first prompt is cut to it; 0 is no limit
	Think     Length  // milliseconds from a request to the next turn of its session, answer time included

	Model     string    // written into every record; "" is none
	BlockSize int       // tokens behind one block id
	BlockTail BlockTail // whether a last, partly filled block has an id: TailCeil or TailFloor
}

// Length is a log-normal distribution, cut at both ends and rounded down to whole numbers.
type Length struct {
	Median   float64
	Sigma    float64 // of the logarithm; 0 makes every value the median
	Min, Max int     // values beyond are moved to the bound
}

// Burst switches the arrivals of new sessions between a high and a low rate, the mean unchanged.
type Burst struct {
	Factor  float64       // high rate over mean rate; 0 or 1 is no burst
	On, Off time.Duration // mean time of high and of low rate, exponentially distributed
}

// maxRequests bounds a made-up trace, which is in memory as a whole: some gigabytes.
const maxRequests = 50_000_000

// Check says what is wrong with p, by field.
func (p Params) Check() error {
	for _, f := range []struct {
		name      string
		v, lo, hi float64
	}{
		{"Requests", float64(p.Requests), 1, maxRequests},
		{"Rate", p.Rate, 1e-6, 1e6},
		{"Tenants", float64(p.Tenants), 1, 1e6},
		{"Skew", p.Skew, 0, 10},
		{"Turns", p.Turns, 1, 1e6},
		{"MaxTurns", float64(p.MaxTurns), 0, 1e6},
		{"MaxPrompt", float64(p.MaxPrompt), 0, maxTokens},
		{"BlockSize", float64(p.BlockSize), 1, 1 << 20},
	} {
		if !(f.v >= f.lo && f.v <= f.hi) {
			return fmt.Errorf("%s is %s, want %s to %s", f.name, numeral(f.v), numeral(f.lo), numeral(f.hi))
		}
	}
	if p.BlockTail != TailCeil && p.BlockTail != TailFloor {
		return fmt.Errorf("BlockTail is %q, want %q or %q", p.BlockTail, TailCeil, TailFloor)
	}
	for _, l := range []struct {
		name string
		Length
		least int
	}{
		{"System", p.System, 0}, {"Document", p.Document, 0}, {"User", p.User, 1}, {"Output", p.Output, 1},
		{"Think", p.Think, 0},
	} {
		if err := l.check(l.name, l.least); err != nil {
			return err
		}
	}
	return p.Burst.check()
}

// numeral prints a number without an exponent if it is a whole one.
func numeral(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	return fmt.Sprint(v)
}

func (l Length) check(name string, least int) error {
	switch {
	case l.Min < least || l.Min > maxTokens:
		return fmt.Errorf("%s.Min is %d, want %d to %d", name, l.Min, least, maxTokens)
	case l.Max < l.Min || l.Max > maxTokens:
		return fmt.Errorf("%s.Max is %d, want %d to %d", name, l.Max, l.Min, maxTokens)
	case !(l.Median >= 0 && l.Median <= maxTokens):
		return fmt.Errorf("%s.Median is %v, want 0 to %d", name, l.Median, maxTokens)
	case !(l.Sigma >= 0 && l.Sigma <= 10):
		return fmt.Errorf("%s.Sigma is %v, want 0 to 10", name, l.Sigma)
	}
	return nil
}

func (b Burst) none() bool { return b.Factor == 0 || b.Factor == 1 }

func (b Burst) check() error {
	if b.none() {
		return nil
	}
	if b.On <= 0 || b.Off <= 0 {
		return fmt.Errorf("Burst.On is %v and Burst.Off %v, want more than 0", b.On, b.Off)
	}
	most := float64(b.On+b.Off) / float64(b.On)
	if !(b.Factor >= 1 && b.Factor <= most) {
		return fmt.Errorf("Burst.Factor is %v, want 1 to %.4g ((On + Off) / On: the low rate would be negative)", b.Factor, most)
	}
	return nil
}
