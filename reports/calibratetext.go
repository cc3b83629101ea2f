package reports

import (
	"fmt"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-2cee110a/triage/sim/calibrate"
)

func (c *Calibrated) logLine() string {
	return fmt.Sprintf("%s: %s, %s", c.Log.Name, count(len(c.Log.Requests)+len(c.Log.Steps), c.thing()), short("sha256:"+c.Log.SHA256))
}

// thing is what the log is made of.
func (c *Calibrated) thing() string {
	if len(c.Log.Steps) > 0 {
		return "step"
	}
	return "request"
}

func (c *Calibrated) replicaLine() string {
	e := c.Settings.Engine
	of := "a model and GPU that were not named"
	if f := c.Settings.For; f != nil {
		of = fmt.Sprintf("%s on %d x %s", f.Model, f.TP, f.GPU)
	}
	if len(c.Log.Steps) > 0 {
		return of
	}
	return fmt.Sprintf("%s, %s KV tokens; max-num-seqs %d, max-num-batched-tokens %d", of, group(int64(e.KVBlocks)*int64(e.BlockSize)),
		e.MaxNumSeqs, e.MaxNumBatchedTokens)
}

func (c *Calibrated) fitLine() string {
	return fmt.Sprintf("%s, on %s; %s held out; %s", c.File.Kind, count(c.Fitted, c.thing()), group(int64(c.Held)), c.File.Calibration.Fitting)
}

func (c *Calibrated) coefficientTable() string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"coefficient", "value", "from", "to", ""})
	for _, k := range c.Coefficients {
		t.AppendRow(table.Row{k.Name, significant(k.Value), significant(k.Low), significant(k.High), keptWhy(k)})
	}
	return plain(t).Render()
}

// keptWhy says what a coefficient that was not fitted is.
func keptWhy(k calibrate.Coefficient) string {
	switch k.Kept {
	case "":
		return ""
	case "given":
		return "as given"
	case "setting":
		return "as set; the log does not tell it"
	}
	return "kept at the registry's; the log does not tell it"
}

func (c *Calibrated) errorTable() string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"metric", "measured ms", "predicted ms", "error of mean", "mean abs.", "median abs."})
	for i, e := range c.Errors {
		m := c.Means[i]
		t.AppendRow(table.Row{e.Metric, significant(m.Measured * 1e3), significant(m.Simulated * 1e3), biasCell(e.MeanError), errorCell(e.Mean), errorCell(e.Median)})
	}
	return plain(t).Render()
}

// Doubts.
const (
	farLow, farHigh = 0.5, 2 // factors beyond are unlikely for the same hardware
	poor            = 0.15   // error of a mean
)

// doubts are what makes the fit doubtful, and what was made of the log.
func (c *Calibrated) doubts() []string {
	out := append([]string(nil), c.Log.Notes...)
	for _, k := range c.Coefficients {
		if k.Kept == "registry" {
			out = append(out, fmt.Sprintf("%s is kept: to fit it the log needs %s", k.Name, k.Needs))
		}
		if c.File.Kind == "physical" && k.Unit == "" && k.Kept == "" && (k.Value < farLow || k.Value > farHigh) {
			out = append(out, fmt.Sprintf("%s is %s times what the registry says: model, GPU, tp or engine settings may not be those of the server", k.Name, significant(k.Value)))
		}
	}
	for _, e := range c.Errors {
		if e.MeanError > poor || e.MeanError < -poor {
			out = append(out, fmt.Sprintf("mean %s is predicted with an error of %s: what these replicas do differs from what the server did", e.Metric, biasCell(e.MeanError)))
		}
	}
	if len(c.Errors) == 0 {
		out = append(out, "nothing was held out, so nothing is known of how well this predicts")
	}
	return out
}

func (c *Calibrated) next() []step {
	flags := ""
	if c.Flags != "" {
		flags = " " + c.Flags
	}
	if c.Saved == "" {
		return []step{{"triage calibrate " + strconv.Quote(c.Log.Name) + flags + " -o cost.yaml", "keep the cost model"}}
	}
	return []step{{"triage replay TRACE" + flags + " --cost " + c.Saved, "replay with it"}}
}
