package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-2cee110a/triage/traces"
)

// ReadGallery reads back what the pictures need from the folder of a replay: result.json and outcomes.parquet.
func ReadGallery(dir string) (*Gallery, error) {
	var result storedResult
	name := filepath.Join(dir, "result.json")
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &result); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if result.Schema != SchemaName {
		return nil, fmt.Errorf("%s: schema is %q, want %q", name, result.Schema, SchemaName)
	}
	g := result.gallery()
	outcomes := filepath.Join(dir, "outcomes.parquet")
	if err := g.fill(outcomes); err != nil {
		return nil, fmt.Errorf("%s: %w", outcomes, err)
	}
	return g, g.could(outcomes, &result)
}

// storedResult is what is needed of result.json.
type storedResult struct {
	Schema string `json:"schema"`
	Trace  struct {
		Name     string `json:"name"`
		Requests int    `json:"requests"`
	} `json:"trace"`
	Cluster struct {
		Engine storedEngine `json:"engine"`
		Pools  []struct {
			Name   string       `json:"name"`
			Engine storedEngine `json:"engine"`
		} `json:"pools"`
	} `json:"cluster"`
	Runs []struct {
		Policy   string `json:"policy"`
		Replicas []struct {
			Name string `json:"name"`
			Pool string `json:"pool"`
		} `json:"replicas"`
	} `json:"runs"`
}

type storedEngine struct {
	BlockSize int `json:"block_size"`
}

// blockSize returns the tokens in a KV block of a run's replica; with -1 for a replica those of the first pool.
func (r *storedResult) blockSize(run int, replica int32) int {
	if replica >= 0 {
		pool := r.Runs[run].Replicas[replica].Pool
		for _, p := range r.Cluster.Pools {
			if p.Name == pool {
				return p.Engine.BlockSize
			}
		}
	}
	return r.Cluster.Engine.BlockSize
}

// gallery has the runs without their requests.
func (r *storedResult) gallery() *Gallery {
	g := &Gallery{Trace: r.Trace.Name}
	for _, run := range r.Runs {
		p := Played{Policy: run.Policy}
		for _, rep := range run.Replicas {
			p.Replicas = append(p.Replicas, rep.Name)
		}
		g.Runs = append(g.Runs, p)
	}
	return g
}

// storedOutcome is what is needed of a row of outcomes.parquet.
type storedOutcome struct {
	Policy      string   `parquet:"policy"`
	ArrivalS    float64  `parquet:"arrival_s"`
	Replica     string   `parquet:"replica,optional"`
	Status      string   `parquet:"status"`
	Prompt      int32    `parquet:"prompt_tokens"`
	Hit         *int32   `parquet:"hit_tokens,optional"`
	TTFT        *float64 `parquet:"ttft_s,optional"`
	E2E         *float64 `parquet:"e2e_s,optional"`
	GatewayWait *float64 `parquet:"gateway_wait_s,optional"`
}

// fill reads the requests, which are in the order of runs and trace.
func (g *Gallery) fill(name string) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return errors.Unwrap(err)
	}
	defer f.Close()
	defer func() { // the reader panics on some damaged files
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged: %v", r)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return err
	}
	rows := parquet.NewGenericReader[storedOutcome](file)
	defer rows.Close()
	at := newPlaces(g)
	batch := make([]storedOutcome, 1024)
	for {
		clear(batch) // a null leaves what was there
		n, err := rows.Read(batch)
		for i := range batch[:n] {
			if err := at.add(&batch[i]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// places finds runs and replicas by name.
type places struct {
	g        *Gallery
	run      map[string]int
	replicas []map[string]int32
}

func newPlaces(g *Gallery) *places {
	p := &places{g: g, run: map[string]int{}}
	for i, r := range g.Runs {
		p.run[r.Policy] = i
		names := map[string]int32{}
		for k, name := range r.Replicas {
			names[name] = int32(k)
		}
		p.replicas = append(p.replicas, names)
	}
	return p
}

func (p *places) add(o *storedOutcome) error {
	run, ok := p.run[o.Policy]
	if !ok {
		return fmt.Errorf("policy %q is not in result.json", o.Policy)
	}
	q := PlayedRequest{Prompt: o.Prompt, Hit: traces.Unknown, Could: traces.Unknown, Replica: -1, Completed: o.Status == "completed",
		Arrived: o.ArrivalS, Dispatched: o.ArrivalS + numberOr(o.GatewayWait), Finished: o.ArrivalS + numberOr(o.E2E), TTFT: numberOr(o.TTFT)}
	if o.Hit != nil {
		q.Hit = *o.Hit
	}
	if o.Replica != "" {
		if q.Replica, ok = p.replicas[run][o.Replica]; !ok {
			return fmt.Errorf("replica %q is not in result.json", o.Replica)
		}
	}
	r := &p.g.Runs[run]
	r.Requests = append(r.Requests, q)
	return nil
}

// could fills in what could hit, from the trace that is in the file of outcomes.
func (g *Gallery) could(name string, result *storedResult) error {
	t, err := traces.Open(name, traces.Options{})
	if err != nil {
		return err
	}
	for i := range g.Runs {
		r := &g.Runs[i]
		if len(r.Requests) > t.Len() {
			return fmt.Errorf("%s: %d rows of policy %s, want at most the %d of the trace", name, len(r.Requests), r.Policy, t.Len())
		}
		for row := range r.Requests {
			r.Requests[row].Could = couldHit(t, row, result.blockSize(i, r.Requests[row].Replica))
		}
	}
	return nil
}

// numberOr is NaN for a number that is not there.
func numberOr(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
