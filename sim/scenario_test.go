package sim

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/traces"
)

var update = flag.Bool("update", false, "rewrite the expected timelines")

// TestScenarios replays small traces, step times being 1 ms, and compares what each request met with the text beside
// the trace. Sections of a file: config, trace (Mooncake lines, blocks of 16 tokens), want.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenario/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) { scenario(t, f) })
	}
}

func scenario(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(ar.Files) != 3 {
		t.Fatalf("%s has %d sections, want config, trace and want", file, len(ar.Files))
	}
	cfg, policy := scenarioConfig(t, string(ar.Files[0].Data))
	r, err := Run(cfg, spec(t, policy), fromText(t, string(ar.Files[1].Data)))
	if err != nil {
		t.Fatal(err)
	}
	checkLaws(t, r)
	got := timeline(r)
	if *update {
		ar.Files[2].Data = []byte(got)
		if err := os.WriteFile(file, txtar.Format(ar), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(ar.Files[2].Data), got); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
}

// scenarioConfig reads lines of "key value" over a cluster of two small replicas without server overhead.
func scenarioConfig(t *testing.T, text string) (Config, string) {
	cfg, policy := small(), "round-robin"
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, _ := strconv.Atoi(value)
		var err error
		switch key {
		case "", "#":
		case "policy":
			policy = value
		case "replicas":
			cfg.Replicas = n
		case "blocks":
			cfg.BlocksOverride = n
		case "max-num-seqs":
			cfg.Engine.MaxNumSeqs = n
		case "max-num-batched-tokens":
			cfg.Engine.MaxNumBatchedTokens = n
		case "max-model-len":
			cfg.Engine.MaxModelLen = n
		case "gateway-queue":
			cfg.Gateway.MaxQueue = n
		case "gateway-deadline":
			cfg.Gateway.Deadline, err = time.ParseDuration(value)
		case "overhead-before":
			var d time.Duration
			d, err = time.ParseDuration(value)
			cfg.Engine.OverheadBefore = engine.FromDuration(d)
		case "speed":
			cfg.Speed = float64(n)
		case "pool":
			cfg.Pools = append(cfg.Pools, scenarioPool(t, value))
		case "default-model":
			cfg.DefaultModel = value
		case "need":
			cfg.Needs = append(cfg.Needs, scenarioNeed(t, value))
		case "fault":
			cfg.Faults = append(cfg.Faults, faultOf(t, value))
		case "on-crash":
			cfg.OnCrash = OnCrash(value)
		case "detect":
			cfg.Detect, err = time.ParseDuration(value)
		case "reuse-output":
			cfg.ReuseOutput = ReuseOutput(value)
		case "max-loras":
			cfg.Engine.MaxLoRAs = n
		case "adapter-load-time":
			var d time.Duration
			d, err = time.ParseDuration(value)
			cfg.Engine.AdapterLoadTime = engine.FromDuration(d)
		case "adapter-signal":
			cfg.AdapterSignal = AdapterSignal(value)
		case "sessions":
			cfg.Sessions = Sessions(value)
		case "think":
			cfg.Think, err = time.ParseDuration(value)
		case "signals":
			cfg.Signals, err = ParseSignals(value)
		default:
			t.Fatalf("unknown setting %q", key)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return cfg, policy
}

// scenarioPool reads "NAME key=value ...": a pool of one small replica.
func scenarioPool(t *testing.T, text string) Pool {
	name, settings, _ := strings.Cut(text, " ")
	cfg := small()
	cfg.Replicas = 1
	p := cfg.Pool(name)
	for _, s := range strings.Fields(settings) {
		key, value, _ := strings.Cut(s, "=")
		n, _ := strconv.Atoi(value)
		switch key {
		case "replicas":
			p.Replicas = n
		case "blocks":
			p.BlocksOverride = n
		case "block-size":
			p.Engine.BlockSize = n
		case "max-model-len":
			p.Engine.MaxModelLen = n
		case "serves":
			p.Serves = strings.Split(value, ",")
		case "caps":
			p.Caps = strings.Split(value, ",")
		default:
			t.Fatalf("unknown setting %q of a pool", key)
		}
	}
	return p
}

// scenarioNeed reads "key=value ..." with caps=A,B.
func scenarioNeed(t *testing.T, text string) (n Need) {
	for _, s := range strings.Fields(text) {
		key, value, _ := strings.Cut(s, "=")
		switch key {
		case "tenant":
			n.Tenant = value
		case "slo":
			n.SLO = value
		case "model":
			n.Model = value
		case "prompt":
			n.MinPrompt, _ = strconv.Atoi(value)
		case "caps":
			n.Caps = strings.Split(value, ",")
		default:
			t.Fatalf("unknown condition %q", key)
		}
	}
	return n
}

// faultOf reads "INSTANT REPLICA KIND [FACTOR]".
func faultOf(t *testing.T, text string) Fault {
	w := append(strings.Fields(text), "0")
	at, err := time.ParseDuration(w[0])
	if err != nil {
		t.Fatal(err)
	}
	factor, err := strconv.ParseFloat(w[3], 64)
	if err != nil {
		t.Fatal(err)
	}
	return Fault{At: at, Replica: w[1], Do: FaultKind(w[2]), Factor: factor}
}

// small is two replicas of 64 blocks with steps of 1 ms and no server overhead.
func small() Config {
	cfg := Default()
	cfg.Replicas, cfg.BlocksOverride, cfg.Cost = 2, 64, "unit"
	cfg.Engine.OverheadBefore, cfg.Engine.OverheadAfter = 0, 0
	cfg.Decisions = true
	return cfg
}

// fromText loads Mooncake lines with blocks of 16 tokens.
func fromText(t testing.TB, lines string) *traces.Trace {
	t.Helper()
	name := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(name, []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	tr, err := traces.Open(name, traces.Options{BlockSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// timeline prints a line a request, times in ms.
func timeline(r *Result) string {
	var b strings.Builder
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		fmt.Fprintf(&b, "%d arrives %s", o.Row, ms(o.Arrived))
		if o.Held {
			b.WriteString(" held")
		}
		if o.Retries > 0 {
			fmt.Fprintf(&b, " sent again")
		}
		if o.Status == Rejected {
			if o.First >= 0 {
				fmt.Fprintf(&b, " first %s", ms(o.First))
			}
			fmt.Fprintf(&b, " rejected %s %s\n", ms(o.Finished), o.Reason)
			continue
		}
		fmt.Fprintf(&b, " to %s %s scheduled %s first %s last %s hit %d", r.Replicas[o.Replica].Name, ms(o.Dispatched), ms(o.Scheduled),
			ms(o.First), ms(o.Finished), o.Hit)
		if o.Preemptions > 0 {
			fmt.Fprintf(&b, " preempted %d", o.Preemptions)
		}
		b.WriteString("\n")
	}
	for _, w := range r.Warnings {
		b.WriteString("! " + w + "\n")
	}
	return b.String()
}

func ms(t engine.Time) string {
	return strconv.FormatFloat(t.Seconds()*1000, 'g', 6, 64)
}
