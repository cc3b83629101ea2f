package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/sim/calibrate"
	"github.com/seed-2cee110a/triage/traces"
)

// calibration is a fit as the command line describes it.
type calibration struct {
	cfg              sim.Config
	fit, format, out string
	holdOut          float64
	replicas         int
	policy, trace    string
	blockSize        int
	fix              fixed
	model, gpu       bool // given
	flags            []string
	width            int
}

// hashTokens are behind one id of Mooncake's format.
const hashTokens = 512

// fits are the kinds of cost models; "" chooses.
var fits = []string{"physical", "linear", "table"}

func calibrateCmd() *cobra.Command {
	c := &calibration{cfg: sim.Default(), format: "table", holdOut: 0.5, fix: fixed{}}
	cmd := &cobra.Command{
		Use:   "calibrate LOG",
		Short: "fit a cost model to a log with measured latencies",
		Long: `calibrate plays a log of a real server again and moves the coefficients of a
cost model until TTFT and TPOT come out as measured. The last part of the log is
kept out of the fit; the error of predicting it is what the result is worth.

LOG is requests as CSV, JSON lines or Parquet, with columns
  arrival   arrival_s, arrival_ms, arrival_us, arrival_ns, arrival or
            start_time (seconds), timestamp (milliseconds)
  lengths   prompt_tokens, input_tokens, input_length, ... and
            output_tokens, completion_tokens, output_length, ...
  latency   ttft_s or ttft_ms, e2e_s or e2e_ms (both empty: it failed)
  optional  prompt_id (equal: the same prompt), hash_ids (JSON lines),
            session, replica, status, policy, gateway_wait_s
which outcomes of replay are, too; or the JSON of vllm bench serve
--save-detailed; or steps as CSV with prefill_tokens, decode_seqs, kv_tokens and
seconds or step_ms (and prefill_seqs, context). Gzip and zstd are unpacked.

The flags of the replica must be those of the server. With --model and --gpu the
registry's cost model is rescaled (physical); without, the cost is linear in the
work of a step, and --kv-tokens is needed. A table is made of steps.

A coefficient that the log does not determine stays at the registry's value,
which the result says, or the fit is refused (exit code 1); --fix gives a value.`,
		Example: `  triage calibrate log.csv --model Qwen/Qwen3-14B --gpu H100 --tp 1 -o cost.yaml
  triage replay conv.jsonl --model Qwen/Qwen3-14B --tp 1 --cost cost.yaml
  triage calibrate bench.json --model-config config.json --gpu L40S --tp 1
  triage calibrate log.jsonl --kv-tokens 3e5 --fix per_context_token_ns=0
  triage calibrate steps.csv --fit table -o cost.yaml`,
		Args: wants("LOG"),
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.VarP(path{&c.out}, "output", "o", "write the cost model to `FILE`; - prints it instead of the report")
	f.Var(choice[string]{&c.fit, fits}, "fit", "cost model to fit; without it physical if --model and --gpu are given, else linear")
	f.Float64Var(&c.holdOut, "holdout", c.holdOut, "share `X` of the log that is kept out of the fit, 0..0.9")
	f.Var(c.fix, "fix", "keep a coefficient at a value; repeat it for several")
	f.Var(count[int]{&c.replicas}, "replicas", "replicas that served the log, which has a column for them; 0: as many as it names")
	f.StringVar(&c.policy, "policy", "", "of outcomes of several policies take those of `LABEL`; without it the first")
	f.StringVar(&c.trace, "trace", "", "trace that was replayed, in whose `FILE` the log's column row counts: it says which prompts are alike")
	f.Var(blockSize(&c.blockSize), "trace-block-size", "tokens behind one of the log's hash_ids, where the log does not say (512)")
	f.Var(choice[string]{&c.format, calibrateFormats()}, "format", "how to print the result")
	bindHardware(f, &c.cfg)
	bindEngine(f, &c.cfg)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		c.model = f.Changed("model") || f.Changed("model-config")
		c.gpu = f.Changed("gpu")
		c.flags = decidingFlags(cmd, "output", "fit", "holdout", "fix", "replicas", "policy", "trace", "trace-block-size")
		c.width = columns(cmd.OutOrStdout())
		return c.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
	})
	return cmd
}

func calibrateFormats() []string {
	var names []string
	for _, r := range reports.CalibrateCatalog() {
		names = append(names, r.Name)
	}
	return names
}

func (c *calibration) run(ctx context.Context, log string, stdout, stderr io.Writer) error {
	s, err := c.settings()
	if err != nil {
		return usage{err}
	}
	if c.out != "" && c.out != "-" {
		if err := errors.Join(checkFile(c.out), checkApart(log, c.out)); err != nil {
			return usage{err}
		}
	}
	o := calibrate.ReadOptions{BlockSize: s.BlockSize, Policy: c.policy}
	if s.For != nil {
		o.Only = calibrate.Only{Model: s.For.Model, GPU: s.For.GPU, TP: s.For.TP}
	}
	if c.trace != "" {
		if o.Trace, err = open(ctx, c.trace, traces.Options{BlockSize: c.blockSize}); err != nil {
			return err
		}
	}
	l, err := calibrate.Open(log, o)
	if err != nil {
		return err
	}
	if err := c.suits(l, s); err != nil {
		return usage{err}
	}
	r, err := calibrate.Run(ctx, l, *s)
	if err != nil {
		return err
	}
	return c.write(ctx, r, stdout, stderr)
}

// settings checks the flags and says what the log was measured on.
func (c *calibration) settings() (*calibrate.Settings, error) {
	if err := checkCluster(c.cfg); err != nil {
		return nil, err
	}
	s := &calibrate.Settings{BlockSize: cmp.Or(c.blockSize, hashTokens), Fit: c.fit, HoldOut: c.holdOut, Replicas: c.replicas, Fix: c.fix,
		Tool: "triage " + tool().Version, Flags: c.flags}
	switch {
	case !(c.holdOut >= 0 && c.holdOut <= 0.9):
		return nil, fmt.Errorf("--holdout is %v, want 0 to 0.9", c.holdOut)
	case c.model && !c.gpu:
		return nil, errors.New("--model is given and --gpu is not: want both, the server that the log was measured on")
	case c.gpu && !c.model:
		return nil, errors.New("--gpu is given and --model is not: want both, the server that the log was measured on")
	case c.fit == "physical" && !c.model:
		return nil, errors.New("--fit physical rescales the cost model of the registry: want --model and --gpu")
	case c.model:
		return s, c.known(s)
	}
	return s, c.unknown(s)
}

// known fills in what model and GPU say.
func (c *calibration) known(s *calibrate.Settings) error {
	cfg, m, g, err := c.cfg.Hardware()
	if err != nil {
		return err
	}
	s.Engine, s.Model, s.GPU = cfg.Engine, m, g
	s.For = &sim.CostFor{Model: cfg.Model, GPU: cfg.GPU, TP: cfg.TP}
	if s.Fit == "" {
		s.Fit = "physical"
	}
	return nil
}

// unknown makes do with flags alone.
func (c *calibration) unknown(s *calibrate.Settings) error {
	e, d := c.cfg.Engine, engine.Default()
	if e.MaxNumSeqs == 0 {
		e.MaxNumSeqs = d.MaxNumSeqs
	}
	if e.MaxNumBatchedTokens == 0 {
		e.MaxNumBatchedTokens = d.MaxNumBatchedTokens
	}
	e.KVBlocks = c.cfg.BlocksOverride
	if c.cfg.KVTokens > 0 {
		e.KVBlocks = int(c.cfg.KVTokens / int64(e.BlockSize))
	}
	s.Engine = e
	if s.Fit == "" {
		s.Fit = "linear"
	}
	return nil
}

// suits checks the log against the flags.
func (c *calibration) suits(l *calibrate.Log, s *calibrate.Settings) error {
	steps := len(l.Steps) > 0
	switch {
	case c.fit == "table" && !steps:
		return errors.New("--fit table needs steps, and the log has requests; want physical or linear")
	case !steps && s.Engine.KVBlocks == 0:
		return errors.New("the KV capacity is not known: want --model and --gpu, or --kv-tokens of the server that the log was measured on")
	}
	return nil
}

func (c *calibration) write(ctx context.Context, r *calibrate.Result, stdout, stderr io.Writer) error {
	data, err := r.YAML()
	if err != nil {
		return err
	}
	if c.out == "-" {
		_, err := stdout.Write(data)
		return err
	}
	if c.out != "" {
		err := writeFile(ctx, c.out, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(stderr, "wrote %s\n", c.out)
	}
	report := &reports.Calibrated{Result: r, Saved: c.out, Flags: strings.Join(c.flags, " "), Width: c.width}
	for _, f := range reports.CalibrateCatalog() {
		if f.Name == c.format {
			return f.Write(stdout, report)
		}
	}
	return usage{errors.New("unknown format " + c.format)}
}

// fixed is the flag for coefficients that are given.
type fixed map[string]float64

func (f fixed) Type() string   { return "NAME=VALUE" }
func (f fixed) String() string { return "" }

func (f fixed) Set(text string) error {
	name, value, _ := strings.Cut(text, "=")
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !(v >= 0 && v <= 1e9) {
		return errors.New("want NAME=VALUE with a number of at least 0, such as per_context_token_ns=0")
	}
	f[name] = v
	return nil
}

var _ pflag.Value = fixed{}
