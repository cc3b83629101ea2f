package promsignals_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/policies/promsignals"
)

// front is a proxy with its engines.
type front struct {
	*proxy
	url     string
	file    string
	log     bytes.Buffer
	weights [2]policies.WeightsFile // of the file, and others
	engines []*fakeEngine
	targets []promsignals.Target
}

func newFront(t *testing.T, engines int) *front {
	t.Helper()
	f := &front{file: filepath.Join(t.TempDir(), "weights.json")}
	for i := range f.weights {
		f.weights[i] = policies.WeightsFile{Config: policies.DefaultScore(), Chain: policies.ChainV1, BlockTokens: 16}
	}
	f.weights[1].Config.Weights.Queue = 9
	write(f.file, f.weights[0])
	f.proxy = &proxy{models: map[string]policies.ID{"m": 1}, began: time.Now(), patience: time.Hour, held: make(chan struct{}, 1)}
	if err := f.load(f.file, policies.PoolConfig{Log: policies.NewDecisionLog(&f.log)}); err != nil {
		t.Fatal(err)
	}
	for range engines {
		e := &fakeEngine{}
		address := httptest.NewServer(e)
		t.Cleanup(address.Close)
		if err := f.join(address.URL); err != nil {
			t.Fatal(err)
		}
		f.engines = append(f.engines, e)
		f.targets = append(f.targets, promsignals.Target{Replica: address.URL, URL: address.URL + "/metrics"})
	}
	s := httptest.NewServer(f.proxy)
	t.Cleanup(s.Close)
	f.url = s.URL + "/v1/completions"
	return f
}

// ask sends a completion and returns the status, the answer and the headers.
func (f *front) ask(t *testing.T, c completion) (int, string, http.Header) {
	resp, err := http.Post(f.url, "application/json", body(c))
	if err != nil {
		t.Error(err)
		return 0, "", nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(text), resp.Header
}

// settled: nothing is booked, and every decision in the log comes out the same under its weights.
func (f *front) settled(t *testing.T, wantAtLeast int) {
	t.Helper()
	v := f.pool.Snapshot()
	for i, l := range v.Local {
		if l.InFlight != 0 || l.UncachedPrefill != 0 || l.HeldTokens != 0 || l.SentSinceSample != 0 || l.SentTokens != 0 {
			t.Errorf("%s at the end: %+v, want nothing booked", v.Replicas[i].Name, l)
		}
	}
	decisions := 0
	for _, w := range f.weights {
		var lines []string
		for line := range strings.Lines(f.log.String()) {
			if strings.Contains(line, w.Sum()) {
				lines = append(lines, line)
			}
		}
		if lines == nil {
			continue
		}
		total, same, err := policies.ReplayLog(strings.NewReader(strings.Join(lines, "")), w)
		if same != total || err != nil {
			t.Errorf("%d of %d decisions come out the same: %v", same, total, err)
		}
		decisions += total
	}
	if decisions != strings.Count(f.log.String(), "\n") || decisions < wantAtLeast {
		t.Errorf("%d decisions with known weights of %d lines, want at least %d", decisions, strings.Count(f.log.String(), "\n"), wantAtLeast)
	}
}

// Eight clients talk while signals are scraped, a replica comes and goes and weights are loaded: every answer is whole
// and as the engine gave it, every request is served once, and the log explains every decision.
func TestProxy(t *testing.T) {
	const clients, requests = 8, 25
	f := newFront(t, 3)
	ctx, stop := context.WithCancel(t.Context())
	var world, work sync.WaitGroup
	world.Go(func() {
		s := promsignals.Scraper{Pool: f.pool, Now: f.now, Interval: 2 * time.Millisecond, Timeout: time.Minute}
		if err := s.Run(ctx, f.targets[:2]); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	world.Go(func() { f.disturb(ctx, t) })
	for client := range clients {
		work.Go(func() {
			talk := strings.Repeat(fmt.Sprintf("You are helper %d. ", client%3), 50)
			for i := range requests {
				talk += fmt.Sprintf("Question %d of client %d?", i, client)
				c := completion{"m", talk, int32(1 + i%7)}
				if status, got, _ := f.ask(t, c); status != http.StatusOK || got != strings.Join(answer(c), "") {
					t.Errorf("status %d, answer %q, want %q", status, got, answer(c))
				}
			}
		})
	}
	work.Wait()
	stop()
	world.Wait()
	served := int64(0)
	for _, e := range f.engines {
		served += e.served.Load()
	}
	if served != clients*requests {
		t.Errorf("%d answers by the engines to %d requests", served, clients*requests)
	}
	f.settled(t, clients*requests)
}

// disturb lets the last replica leave and come back and loads the two files in turn.
func (f *front) disturb(ctx context.Context, t *testing.T) {
	last := f.targets[len(f.targets)-1].Replica
	for i := 0; ctx.Err() == nil; i++ {
		write(f.file, f.weights[i%2])
		err := f.load(f.file, policies.PoolConfig{})
		if err == nil && i%2 == 0 {
			err = f.pool.Leave(last)
		} else if err == nil {
			err = f.join(last)
		}
		if err != nil {
			t.Error(err)
		}
		time.Sleep(time.Millisecond)
	}
}

// A request that no replica takes waits for one; when as many wait as may, the next is told to come back.
func TestProxyHolds(t *testing.T) {
	f := newFront(t, 1)
	if err := f.pool.Cordon(f.targets[0].Replica, true); err != nil {
		t.Fatal(err)
	}
	c := completion{"m", "hello", 3}
	var work sync.WaitGroup
	work.Go(func() {
		if status, got, _ := f.ask(t, c); status != http.StatusOK || got != strings.Join(answer(c), "") {
			t.Errorf("the one that waited: status %d, answer %q", status, got)
		}
	})
	for len(f.held) == 0 {
		time.Sleep(time.Millisecond)
	}
	status, text, header := f.ask(t, c)
	if status != http.StatusTooManyRequests || header.Get("Retry-After") != "1" || !strings.Contains(text, "too many requests wait") {
		t.Errorf("the next: status %d, Retry-After %q, %s", status, header.Get("Retry-After"), text)
	}
	if err := f.pool.Cordon(f.targets[0].Replica, false); err != nil {
		t.Fatal(err)
	}
	work.Wait()
	f.settled(t, 3)
}

func TestProxyRefuses(t *testing.T) {
	f := newFront(t, 1)
	f.patience = time.Millisecond
	cordon := func(on bool) {
		if err := f.pool.Cordon(f.targets[0].Replica, on); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, c completion, wantStatus int, wantText string) {
		t.Helper()
		if status, text, _ := f.ask(t, c); status != wantStatus || !strings.Contains(text, wantText) {
			t.Errorf("%s: status %d, %s, want %d, %s", what, status, text, wantStatus, wantText)
		}
	}
	cordon(true)
	want("nobody in time", completion{"m", "hello", 1}, http.StatusServiceUnavailable, "no replica had room within 1ms")
	cordon(false)
	want("another model", completion{"n", "hello", 1}, http.StatusNotFound, `unknown model \"n\"`)
	const dead = "http://127.0.0.1:1"
	if err := errors.Join(f.pool.Leave(f.targets[0].Replica), f.join(dead)); err != nil {
		t.Fatal(err)
	}
	want("a dead replica", completion{"m", "hello", 1}, http.StatusBadGateway, dead+": dial tcp 127.0.0.1:1")
	if err := f.pool.Leave(dead); err != nil {
		t.Fatal(err)
	}
	want("nobody", completion{"m", "hello", 1}, http.StatusServiceUnavailable, "no replica serves this model")
	f.settled(t, 3)
}

// A client that goes away in the middle of an answer leaves nothing booked.
func TestProxyClientLeaves(t *testing.T) {
	f := newFront(t, 1)
	var answering atomic.Int64
	gone := make(chan struct{})
	f.engines[0].serving = func() { answering.Add(1); <-gone }
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, body(completion{"m", "hello", 3}))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if l := f.pool.Snapshot().Local[0]; l.InFlight != 1 {
		t.Errorf("%d in flight in the middle of an answer, want 1", l.InFlight)
	}
	leave()
	resp.Body.Close()
	for f.pool.Snapshot().Local[0].InFlight != 0 {
		time.Sleep(time.Millisecond)
	}
	close(gone)
	f.settled(t, 1)
}

// A file that is no weights file, or weights that only a simulator can serve, leave everything as it was.
func TestProxyKeepsWeights(t *testing.T) {
	f := newFront(t, 1)
	if err := os.WriteFile(f.file, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	oracle := f.weights[1]
	oracle.Config.Prefix = policies.PrefixOracle
	for what, err := range map[string]error{"a broken file": f.load(f.file, policies.PoolConfig{}), "the oracle": f.use(oracle, policies.PoolConfig{})} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if want := f.weights[0].Sum(); f.proxy.weights.Load().Sum() != want || f.pool.Weights() != want {
		t.Errorf("the proxy has weights %s, the pool %s, want both %s", f.proxy.weights.Load().Sum(), f.pool.Weights(), want)
	}
}
