package reports

import (
	"math"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// document lays a comparison out as JSON.
func document(c *Comparison) replayJSON {
	d := replayJSON{
		Schema:   SchemaName,
		Trace:    traceJSON{c.Trace.Name, c.Trace.Requests, number(c.Trace.SpanS), c.Trace.Digest, c.Trace.Tied, c.Trace.Unidentified, c.Trace.Reused},
		Cluster:  cluster(c.Config),
		Signals:  signals(c),
		Cost:     costOf(c.Cost),
		Trust:    trustOut(c.Trust),
		Runs:     make([]runJSON, len(c.Runs)),
		Findings: make([]findingJSON, len(c.Findings)),
	}
	for i := range c.Runs {
		d.Runs[i] = run(&c.Runs[i])
	}
	for i, f := range c.Findings {
		d.Findings[i] = finding(f)
	}
	for _, g := range c.Gates {
		d.Gates = append(d.Gates, gateJSON{g.Expr, g.Verdict, g.Detail})
	}
	return d
}

func cluster(cfg sim.Config) clusterJSON {
	c := clusterJSON{
		Replicas: cfg.Replicas, Model: cfg.Model, Shape: shapeOf(cfg), GPU: cfg.GPU, TP: cfg.TP, KVTokens: cfg.KVTokens,
		Engine:  settings(cfg.Engine),
		Gateway: gatewayOut(cfg.Gateway), Routers: cfg.Routers.String(), Signals: cfg.Signals.String(),
		Speed: number(cfg.Speed), Ties: string(cfg.Ties), Seed: cfg.Seed, Scale: scaleOf(cfg),
		Default: cfg.DefaultModel,
	}
	c.sessionsJSON, c.faultsJSON = sessions(cfg), faults(cfg)
	if cfg.Engine.MaxLoRAs > 0 {
		c.Adapters = adapterSignal(cfg)
	}
	for _, p := range cfg.Pools {
		c.Pools = append(c.Pools, pool(cfg, p))
	}
	for _, n := range cfg.Needs {
		c.Needs = append(c.Needs, needJSON(n))
	}
	return c
}

func pool(cfg sim.Config, p sim.Pool) poolJSON {
	cfg = p.In(cfg)
	return poolJSON{
		Name: p.Name, Replicas: p.Replicas, Model: p.Model, Shape: shapeOf(cfg), GPU: p.GPU, TP: p.TP, KVTokens: p.KVTokens,
		Engine: settings(p.Engine), Scale: scaleOf(cfg), Cost: costOf(p.Note), Serves: p.Serves, Caps: p.Caps,
	}
}

func settings(e engine.Config) engineJSON {
	return engineJSON{
		BlockSize:                 e.BlockSize,
		KVBlocks:                  e.KVBlocks,
		MaxNumSeqs:                e.MaxNumSeqs,
		MaxNumBatchedTokens:       e.MaxNumBatchedTokens,
		LongPrefillTokenThreshold: e.LongPrefillTokenThreshold,
		MaxModelLen:               e.MaxModelLen,
		ReserveFullISL:            e.ReserveFullISL,
		EnablePrefixCaching:       e.EnablePrefixCaching,
		AsyncScheduling:           e.AsyncScheduling,
		Watermark:                 number(e.Watermark),
		OverheadBeforeS:           number(e.OverheadBefore.Seconds()),
		OverheadAfterS:            number(e.OverheadAfter.Seconds()),
		adaptersJSON:              adaptersJSON{e.MaxLoRAs, number(e.AdapterLoadTime.Seconds()), number(e.MixedAdapters)},
	}
}

// scaleOf leaves out a cost scale that changes nothing.
func scaleOf(cfg sim.Config) number {
	if cfg.CostScale == 1 {
		return 0
	}
	return number(cfg.CostScale)
}

func signals(c *Comparison) signalsJSON {
	return signalsJSON{c.Config.Signals.String(), age(c.Signals)}
}

func age(a sim.SignalAge) ageJSON {
	return ageJSON{number(a.Mean), number(a.P50), number(a.P95), number(a.Max)}
}

func run(r *Run) runJSON {
	return runJSON{
		Policy:      r.Policy,
		Completed:   r.Completed,
		Rejected:    rejectedJSON{r.Rejected, reasons(r.RejectedBy)},
		TTFT:        quantiles(r.TTFT),
		TPOT:        quantiles(r.TPOT),
		E2E:         quantiles(r.E2E),
		HitRatio:    number(r.HitRatio),
		Believed:    believed(r),
		Belief:      belief(r),
		Imbalance:   number(r.Imbalance),
		Preemptions: r.Preemptions,
		Recomputed:  number(r.Recomputed),
		OutputPerS:  number(r.OutputPerS),
		PerS:        number(r.RequestsPerS),
		Makespan:    number(r.Makespan),
		SignalAge:   age(r.Age),
		Affinity:    buckets(r.Affinity),
		Gateway:     gatewayOf(r),
		Tenants:     tenants(r),
		Replicas:    replicas(r),
		Retries:     r.Retries,
		Crashes:     crashes(r),
		Loads:       loads(r.Adapters, r.Loads),
		LoadsPer:    loadsPer1000(r),
		Perfect:     perfect(r),
		Warnings:    append([]string{}, r.Warnings...),
	}
}

func reasons(by [sim.NumReasons]int) map[string]int {
	out := map[string]int{}
	for reason, n := range by {
		if n > 0 {
			out[sim.Reason(reason).String()] = n
		}
	}
	return out
}

func buckets(all []sim.Bucket) []bucketJSON {
	out := make([]bucketJSON, len(all))
	for i, b := range all {
		out[i] = bucketJSON{b.Name, b.N, number(b.Share), quantiles(b.TTFT)}
		if b.N == 0 {
			nan := math.NaN()
			out[i].TTFT = quantiles(sim.Quantiles{Mean: nan, P50: nan, P90: nan, P95: nan, P99: nan, Max: nan})
		}
	}
	return out
}

func replicas(run *Run) []replicaJSON {
	out := make([]replicaJSON, len(run.Replicas))
	for i, r := range run.Replicas {
		out[i] = replicaJSON{r.Name, r.Pool, r.Requests, number(r.BusyRatio), number(r.HitRatio), loads(run.Adapters, r.Loads)}
	}
	return out
}

func finding(f Finding) findingJSON {
	out := findingJSON{ID: f.ID, Text: f.Text, Policy: f.Policy}
	if e := f.Evidence; e != nil {
		out.Evidence = &evidenceJSON{Replicas: e.Replicas, Tenants: e.Tenants, Numbers: map[string]number{}}
		if e.Window != nil {
			out.Evidence.Window = []number{number(e.Window.from), number(e.Window.to)}
		}
		for name, v := range e.Numbers {
			out.Evidence.Numbers[name] = number(v)
		}
	}
	return out
}
