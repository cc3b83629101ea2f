package reports

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// The picture has the best mean of each stage, once, the stable regime first, and says what their errors are.
func TestFidelitySeries(t *testing.T) {
	r := handFidelity() // stable TTFT +10 % and -30 %, the closed-loop TTFT +50 %, its TPOT -10 %
	r.Scores = append([]fidelity.Score{r.Scores[3]}, r.Scores[:3]...)
	s := NewFidelitySeries(r)
	if got := strings.Join(s.Regimes, ", "); got != "stable, closed loop" {
		t.Errorf("regimes %s", got)
	}
	if want := "Simulated against measured, regime stable: TTFT 20.0 % off in the median of 2 stages"; s.answer() != want {
		t.Errorf("got %q, want %q", s.answer(), want)
	}
	if want := "stable: TTFT off by 20.0 %, 1 of 2 in the band"; s.heading("ttft") != want {
		t.Errorf("got %q, want %q", s.heading("ttft"), want)
	}
	if want := "stable: no TPOT"; s.heading("tpot") != want {
		t.Errorf("got %q, want %q", s.heading("tpot"), want)
	}
	if notes := strings.Join(s.notes(), " "); !strings.Contains(notes, "TTFT of b, stage 0, 70.0 ms instead of 100 ms (-30.0 %)") || strings.Contains(notes, "overload") {
		t.Errorf("notes %q", notes)
	}
	var b bytes.Buffer
	if err := s.CSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Fatalf("%d rows, %v; want a header and 4 means", len(rows), err)
	}
	for i, want := range []string{"ttft,a,0,stable,H100,m,20,22,0.1", "ttft,b,0,stable,H100,m,100,70,-0.3", "ttft,d,0,closed loop,H100,m,10,15,0.5"} {
		if got := strings.Join(rows[i+1], ","); got != want {
			t.Errorf("row %d is %s, want %s", i+1, got, want)
		}
	}
}

// Every point is drawn, one of the main regime on its own and among all, and without any the picture says so.
func TestFidelityPicture(t *testing.T) {
	r := handFidelity()
	few := pictureOf(t, r)
	r.Scores[0].Simulated = 0 // has no logarithm
	if less := pictureOf(t, r); strings.Count(few, "<path") != strings.Count(less, "<path")+2 {
		t.Errorf("%d paths with a point, %d without it, want two more", strings.Count(few, "<path"), strings.Count(less, "<path"))
	}
	for _, want := range []string{">measured TTFT (ms)<", ">simulated E2E (ms)<", ">stable<", ">closed loop<"} {
		if !strings.Contains(few, want) {
			t.Errorf("the picture has no %s", want)
		}
	}
	if none := pictureOf(t, &fidelity.Report{}); !strings.Contains(none, "No mean to compare") {
		t.Errorf("a picture of nothing says\n%s", none)
	}
	if files := FidelityPlotFiles(r, nil); files != nil {
		t.Errorf("%d files without a format", len(files))
	}
}

func pictureOf(t *testing.T, r *fidelity.Report) string {
	t.Helper()
	var b bytes.Buffer
	for _, f := range FidelityPlotFiles(r, []string{"svg"}) {
		if f.Name == "measured.svg" {
			if err := f.Write(&b); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.String()
}

// On equal scales a mean is inside of the band exactly if its error is at most 10 %, at the ends of the axes too.
func TestBand(t *testing.T) {
	s := logarithmic(1, 1000)
	a := &panel{vg.Rectangle{Max: vg.Point{X: 300, Y: 300}}, s, s}
	corners := bandCorners(a, s)
	for _, m := range []float64{1, 3, 40, 999} {
		for e, want := range map[float64]bool{-0.11: false, -0.09: true, 0: true, 0.09: true, 0.11: false} {
			if v := m * (1 + e); v < s.max && v > s.min {
				if got := inside(corners, vg.Point{X: a.px(m), Y: a.py(v)}); got != want {
					t.Errorf("%v instead of %v is in the band: %v, want %v", v, m, got, want)
				}
			}
		}
	}
}

// inside casts a ray to the right and counts the sides that it crosses.
func inside(corners []vg.Point, p vg.Point) bool {
	odd := false
	for i, a := range corners {
		b := corners[(i+1)%len(corners)]
		if (a.Y > p.Y) != (b.Y > p.Y) && p.X < a.X+(b.X-a.X)*(p.Y-a.Y)/(b.Y-a.Y) {
			odd = !odd
		}
	}
	return odd
}
