package fidelity

import (
	"math"
	"testing"

	"github.com/seed-2cee110a/triage/engine"
)

// curves misses exp(x0 + x1 t) - by logarithms, bent a little - from what x = (1, -2) gives; the last points are off.
func curves(times, off []float64) *solver {
	f := func(x []float64, t float64) float64 { return x[0] + x[1]*t + 0.1*x[0]*x[1]*t }
	s := &solver{from: []float64{0, 0}, guess: []float64{0, 0}}
	for range times {
		s.weight = append(s.weight, 1)
	}
	s.misses = func(x []float64) ([]float64, error) {
		var out []float64
		for i, t := range times {
			out = append(out, f(x, t)-f([]float64{1, -2}, t)-off[i])
		}
		return out, nil
	}
	return s
}

// many points at t in [0, 1], of which the last three are off by as much as given.
func many(off float64) (times, offs []float64) {
	for i := range 60 {
		times, offs = append(times, float64(i)/60), append(offs, 0)
	}
	for _, t := range []float64{0.2, 0.5, 0.9} {
		times, offs = append(times, t), append(offs, off)
	}
	return times, offs
}

func TestSolverFindsCurve(t *testing.T) {
	at, err := curves(many(0)).solve()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1, -2} {
		if math.Abs(at.x[i]-want) > 0.01 {
			t.Errorf("x%d is %v, want about %v", i, at.x[i], want)
		}
	}
}

// Points that no curve explains pull little: as if each were off by no more than what is tolerated.
func TestSolverRobust(t *testing.T) {
	at, err := curves(many(5)).solve()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1, -2} {
		if math.Abs(at.x[i]-want) > 0.03 {
			t.Errorf("x%d is %v, want about %v", i, at.x[i], want)
		}
	}
}

// Wherever the fit goes, shares stay below 1 and the rest above 0; places and values are each other's inverse.
func TestPlaces(t *testing.T) {
	for _, k := range coefficients {
		for _, x := range []float64{-2, 0, 2} {
			v := k.at(x)
			if v <= 0 || k.share() && v >= 1 {
				t.Errorf("%s at %v is %v", k.Name, x, v)
			}
			if back := k.place(v); math.Abs(back-x) > 1e-6 {
				t.Errorf("%s: %v is at %v, want %v", k.Name, v, back, x)
			}
			if got, want := k.slope(x), (math.Log(k.at(x+1e-6))-math.Log(v))/1e-6; math.Abs(got-want) > 1e-3 {
				t.Errorf("%s at %v grows by %v, want %v", k.Name, x, got, want)
			}
		}
	}
	for i, x := range places(coefficientsAt(guesses())) {
		if math.Abs(x-guesses()[i]) > 1e-9 {
			t.Errorf("%s is at %v, want its guess %v", coefficients[i].Name, x, guesses()[i])
		}
	}
	if c := engine.Fitted(); rounded(c) != c {
		t.Errorf("%+v has more than three digits", c)
	}
}
