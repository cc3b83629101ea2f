package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-2cee110a/triage/sim"
)

// Kept is a result read back from the folder that a replay wrote, or from its result.json alone.
type Kept struct {
	Name     string // as given
	Runs     []sim.Summary
	doc      replayJSON
	outcomes string // file of outcomes beside it
}

// ReadKept reads a folder of results or a result.json.
func ReadKept(name string) (*Kept, error) {
	path := name
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		path = filepath.Join(name, "result.json")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	k := &Kept{Name: name, outcomes: filepath.Join(filepath.Dir(path), "outcomes.parquet")}
	if err := json.Unmarshal(data, &k.doc); err != nil {
		return nil, fmt.Errorf("%s%s: %w", path, lineOf(data, err), err)
	}
	if k.doc.Schema != SchemaName {
		return nil, fmt.Errorf("%s: schema is %q, want %q: a result of triage replay -o or --format json", path, k.doc.Schema, SchemaName)
	}
	if len(k.doc.Runs) == 0 {
		return nil, fmt.Errorf("%s: no runs, want at least one", path)
	}
	if lack := lacking(data); lack != "" {
		return nil, fmt.Errorf("%s: %s; replay the trace again", path, lack)
	}
	if k.doc.Cluster.Arrivals == "" { // an older result
		k.doc.Cluster.Arrivals = string(sim.Open)
	}
	for i := range k.doc.Runs {
		k.Runs = append(k.Runs, k.doc.Runs[i].summary())
	}
	return k, nil
}

// cause strips the operation and the file name of an I/O error.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// lineOf is the line of a JSON error, ":12", "" if it has none.
func lineOf(data []byte, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at := int64(-1)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	if at < 0 || at > int64(len(data)) {
		return ""
	}
	return fmt.Sprintf(":%d", 1+strings.Count(string(data[:at]), "\n"))
}

// UnmarshalJSON reads null as a number that is not known.
func (n *number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = number(math.NaN())
		return nil
	}
	var v float64
	err := json.Unmarshal(data, &v)
	*n = number(v)
	return err
}

// summary has the numbers of a run that gates and comparisons look at.
func (r *runJSON) summary() sim.Summary {
	return sim.Summary{
		Policy: r.Policy, Requests: r.Completed + r.Rejected.Total, Completed: r.Completed, Rejected: r.Rejected.Total,
		TTFT: r.TTFT.summary(), TPOT: r.TPOT.summary(), E2E: r.E2E.summary(),
		HitRatio: float64(r.HitRatio), Imbalance: float64(r.Imbalance), Preemptions: r.Preemptions,
		OutputPerS: float64(r.OutputPerS), RequestsPerS: float64(r.PerS), Makespan: float64(r.Makespan),
		Held: r.Gateway.Held, GatewayWait: r.Gateway.Wait.summary(),
	}
}

func (q quantilesJSON) summary() sim.Quantiles {
	return sim.Quantiles{Mean: float64(q.Mean), P50: float64(q.P50), P90: float64(q.P90), P95: float64(q.P95), P99: float64(q.P99), Max: float64(q.Max)}
}

// Labels are the policies, in order.
func (k *Kept) Labels() []string {
	var out []string
	for _, r := range k.Runs {
		out = append(out, r.Policy)
	}
	return out
}

// run returns the run of a policy.
func (k *Kept) run(policy string) (sim.Summary, error) {
	for _, r := range k.Runs {
		if r.Policy == policy {
			return r, nil
		}
	}
	return sim.Summary{}, k.unknown(policy)
}

func (k *Kept) unknown(policy string) error {
	near := ""
	if n := nearest(policy, k.Labels()); n != "" {
		near = fmt.Sprintf("; did you mean %q?", n)
	}
	return fmt.Errorf("%s has no policy %q (have %s%s)", k.Name, policy, strings.Join(k.Labels(), ", "), near)
}

// sameTrace says whether two results are of one trace.
func (k *Kept) sameTrace(other *Kept) bool { return k.doc.Trace.Digest == other.doc.Trace.Digest }

// missingOutcomes tells a result without outcomes from one whose outcomes cannot be read.
func missingOutcomes(err error) bool { return errors.Is(err, fs.ErrNotExist) }
