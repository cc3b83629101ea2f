package reports

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// outcomesOf writes 100 outcomes of a policy beside a result, with a TTFT in seconds, and as many of them refused as said.
func outcomesOf(t *testing.T, k *Kept, policy string, n, refused int, ttft float64) {
	t.Helper()
	rows := make([]outcomeRow, n)
	for i := range rows {
		v := ttft * (1 + float64(i%2*2-1)/4) // a quarter more or less
		rows[i] = outcomeRow{Row: int64(i), Policy: policy, Status: "completed", Prompt: 10, TTFT: &v, E2E: &v}
		if i < refused {
			rows[i].Status, rows[i].TTFT = "rejected", nil
		}
	}
	if err := parquet.WriteFile(k.outcomes, rows); err != nil {
		t.Fatal(err)
	}
}

// Outcomes that were copied from another result are not believed.
func TestOutcomesMatchTheResult(t *testing.T) {
	for _, test := range []struct {
		name       string
		n, refused int
		ttft       float64
		want       string
	}{
		{"its own", 100, 0, 2, ""},
		{"slower", 100, 0, 2.25, `outcomes are not those of result.json: policy "round-robin" has a mean TTFT of 2 s there and 2.25`},
		{"refused", 100, 2, 2, `outcomes are not those of result.json: policy "round-robin" completed 100 there and 98 here`},
		{"short", 98, 0, 2, `outcomes are not those of result.json: policy "round-robin" has 100 requests there and 98 here`},
		{"unknown", 100, 0, math.NaN(), "outcomes are not those of result.json"},
	} {
		a, b := kept(t, sample(t)), kept(t, sample(t))
		outcomesOf(t, a, "round-robin", 100, 0, 2)
		outcomesOf(t, b, "round-robin", test.n, test.refused, test.ttft)
		_, err := pairKept(map[[2]string][]outcome{}, "ttft.mean", "round-robin", a, b)
		var bad *Unreadable
		switch {
		case test.want == "":
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		case !errors.As(err, &bad) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), filepath.Base(b.outcomes)):
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}
