package fidelity

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

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

// keeping the first n of so many points.
func keeping(n, of int) []bool {
	kept := make([]bool, of)
	for i := range n {
		kept[i] = true
	}
	return kept
}

// Without the points that are off, a refit finds what a fit to the others from the start finds.
func TestRefit(t *testing.T) {
	times, offs := many(0.2)
	all, err := curves(times, offs).solve()
	if err != nil {
		t.Fatal(err)
	}
	n := len(times) - 3
	rest := curves(times[:n], offs[:n])
	want, err := rest.solve()
	if err != nil {
		t.Fatal(err)
	}
	got, played, err := rest.refit(all, keeping(n, len(times)))
	if err != nil {
		t.Fatal(err)
	}
	if most := 2*Retries + len(got); played <= len(got) || played > most {
		t.Errorf("the others are simulated %d times, want some steps and derivatives, %d at most", played, most)
	}
	for i := range got {
		if was, is := math.Abs(all.x[i]-want.x[i]), math.Abs(got[i]-want.x[i]); is > was/10 {
			t.Errorf("x%d is %v, with all points %v, want %v", i, got[i], all.x[i], want.x[i])
		}
	}
}

// Where a refit is left with nothing, or with nothing that determines an x, that x is at its guess.
func TestRefitGoesToGuess(t *testing.T) {
	times, offs := many(0.2)
	n := len(times)
	both := func(of int) *solver { // a third x, which the last point alone determines
		s := curves(times[:of], offs[:of])
		s.from, s.guess = []float64{0, 0, 0.25}, []float64{0, 0, 0.25}
		misses := s.misses
		s.misses = func(x []float64) ([]float64, error) {
			m, err := misses(x)
			if of == n {
				m[n-1] += 5 * x[2]
			}
			return m, err
		}
		return s
	}
	all, err := both(n).solve()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(all.x[2]-0.25) < 0.1 {
		t.Fatalf("x2 is %v with all points, want it away from its guess", all.x[2])
	}
	for _, kept := range []int{0, n - 1} {
		got, played, err := both(kept).refit(all, keeping(kept, n))
		if err != nil {
			t.Fatal(err)
		}
		if steps := played - len(got); kept > 0 && steps < 3 {
			t.Errorf("it ends after %d steps: want some at which derivatives were corrected", steps)
		}
		if math.Abs(got[2]-0.25) > 1e-3 {
			t.Errorf("with %d points, x2 is %v, want its guess 0.25", kept, got[2])
		}
	}
}

// Corrected derivatives say what was found along a step; those that are 0 stay so, and nothing changes across the step.
func TestCorrect(t *testing.T) {
	at := &solution{x: []float64{1, 1, 1}, missed: []float64{0.5, 0.5, 0.5}, jacobian: mat.NewDense(3, 3, []float64{1, 2, 0, 0, 0, 3, 0, 0, 0})}
	x, missed := []float64{1.5, 0.5, 2}, []float64{0.7, 0.1, 0.9}
	at.correct(x, missed)
	for i := range 2 {
		along := 0.0
		for p := range x {
			along += at.jacobian.At(i, p) * (x[p] - at.x[p])
		}
		if want := missed[i] - at.missed[i]; math.Abs(along-want) > 1e-12 {
			t.Errorf("miss %d changes by %v along the step, want %v", i, along, want)
		}
	}
	for _, at0 := range [][2]int{{0, 2}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {2, 2}} {
		if v := at.jacobian.At(at0[0], at0[1]); v != 0 {
			t.Errorf("derivative %v is %v, want 0", at0, v)
		}
	}
	if across := at.jacobian.At(0, 0) + at.jacobian.At(0, 1); math.Abs(across-3) > 1e-12 {
		t.Errorf("across the step miss 0 changes by %v, want 3 as before", across)
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
