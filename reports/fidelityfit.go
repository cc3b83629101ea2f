package reports

import (
	"fmt"
	"io"
	"strconv"

	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// FitText writes the coefficients that fit a folder best, and how well they do.
func FitText(w io.Writer, f *fidelity.Fit) error {
	terms := fidelityTable{title: "coefficients of the physical cost model",
		note: "Fitted to stage means, and to TPOT at constant concurrency, with their standard errors.",
		head: []string{"coefficient", "value", "+-", "unit"}}
	for _, k := range f.Terms {
		terms.rows = append(terms.rows, []string{k.Name, fmt.Sprintf("%.3g", k.Fitted), fmt.Sprintf("%.3g", k.Error), k.Unit})
	}
	errors := fidelityTable{title: "errors on what was fitted", head: []string{"what", "n", "mean", "median", "bias"}, rows: fitRows(nil, f.Errors)}
	return writeTables(w, nil, []fidelityTable{terms, errors})
}

// WithoutText writes how well each combination is predicted by a fit to all others.
func WithoutText(w io.Writer, r *fidelity.Without) error {
	all := fidelityTable{title: "left out of the fit, then predicted", note: "One combination of model, GPU, tp and weights at a time.",
		head: []string{"what", "n", "mean", "median", "bias"}, rows: fitRows(nil, r.All)}
	each := fidelityTable{title: "by combination", head: []string{"combination", "what", "n", "mean", "median", "bias"}}
	for _, l := range r.Left {
		each.rows = append(each.rows, fitRows([]string{l.Combination}, l.Errors)...)
	}
	return writeTables(w, nil, []fidelityTable{all, each})
}

func fitRows(first []string, all []fidelity.FitErrors) [][]string {
	var rows [][]string
	for _, e := range all {
		row := append(first[:len(first):len(first)], e.What, strconv.Itoa(e.N), errorCell(e.Mean), errorCell(e.Median), biasCell(e.Bias))
		rows = append(rows, row)
	}
	return rows
}
