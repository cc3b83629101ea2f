package traces

import (
	"math"
	"testing"
)

// near holds a function to one of package math, relative to the size of the result.
func near(t *testing.T, name string, x, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-14*math.Abs(want)) {
		t.Errorf("%s(%v) is %v, want %v", name, x, got, want)
	}
}

func TestElementaryFunctions(t *testing.T) {
	r := stream(1, "test")
	for range 100_000 {
		u := uniform(r)
		x := 200*u - 100
		near(t, "exp", x, exp(x), math.Exp(x))
		near(t, "log", 1-u, log(1-u), math.Log(1-u))
		near(t, "log", exp(x), log(exp(x)), math.Log(exp(x)))
		// Near its zeros the cosine of a rounded angle in radians is no measure: the error is absolute.
		if got, want := cosTurns(u), math.Cos(2*math.Pi*u); math.Abs(got-want) > 2e-15 {
			t.Errorf("cosTurns(%v) is %v, want %v", u, got, want)
		}
	}
	for _, x := range []float64{1e-300, 1.0 / (1 << 53), 0.5, math.Sqrt2 / 2, math.Sqrt2, 3, 1e300, math.MaxFloat64} {
		near(t, "log", x, log(x), math.Log(x))
	}
	near(t, "log", math.SmallestNonzeroFloat64, log(math.SmallestNonzeroFloat64), -1074*math.Ln2)
	for _, x := range []float64{-700, -math.Ln2 / 2, -1e-300, 1e-16, math.Ln2 / 2, 700} {
		near(t, "exp", x, exp(x), math.Exp(x))
	}
	for _, n := range []int{1, 2, 3, 16, 80, 1000} {
		near(t, "power", float64(n), power(0.96, n), math.Pow(0.96, float64(n)))
	}
}

// Where the result is a short number, it is exact.
func TestElementaryExact(t *testing.T) {
	for _, tc := range []struct {
		name      string
		got, want float64
	}{
		{"exp(0)", exp(0), 1}, {"log(1)", log(1), 0}, {"cos of no turn", cosTurns(0), 1},
		{"cos of a quarter", cosTurns(0.25), 0}, {"cos of a half", cosTurns(0.5), -1}, {"cos of three quarters", cosTurns(0.75), 0},
		{"power(0, 3)", power(0, 3), 0}, {"power(0, 0)", power(0, 0), 1}, {"power(3, 5)", power(3, 5), 243},
	} {
		if tc.got != tc.want {
			t.Errorf("%s is %v, want %v", tc.name, tc.got, tc.want)
		}
	}
}
