package promsignals_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/policies/promsignals"
)

// newPool returns a pool of idle replicas a and b.
func newPool(t testing.TB) *policies.Pool {
	t.Helper()
	p, err := policies.NewPool(policies.WeightsFile{Config: policies.DefaultScore()}, policies.PoolConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := p.Join(policies.Replica{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// counter is a clock that moves by one whenever it is looked at.
func counter() func() time.Duration {
	var n atomic.Int64
	return func() time.Duration { return time.Duration(n.Add(1)) }
}

func serve(t testing.TB, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// A scrape files numbers, times and adapters; one that fails leaves what was known as it was.
func TestScrape(t *testing.T) {
	p, now := newPool(t), counter()
	ids := map[string]policies.ID{"sql": 7}
	s := &promsignals.Scraper{Pool: p, Now: now, Adapter: func(name string) policies.ID { return ids[name] }}
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		now() // time passes
		fmt.Fprint(w, "vllm:num_requests_waiting 3\nvllm:lora_requests_info{running_lora_adapters=\"sql\"} 1\n")
	})
	if err := s.Scrape(t.Context(), promsignals.Target{Replica: "b", URL: url}); err != nil {
		t.Fatal(err)
	}
	b := p.Snapshot().Replicas[1]
	want := policies.Signals{Have: policies.HasWaiting | policies.HasAdapters, Waiting: 3, SampledAt: 1, ReceivedAt: 3}
	if b.Signals != want || len(b.Adapters) != 1 || b.Adapters[0] != 7 {
		t.Errorf("signals %+v and adapters %v, want %+v and [7]", b.Signals, b.Adapters, want)
	}
	bad := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/down":
			http.Error(w, "starting", http.StatusServiceUnavailable)
		case "/slow":
			<-r.Context().Done()
		case "/large":
			fmt.Fprint(w, strings.Repeat(" ", 17<<20))
		default:
			fmt.Fprint(w, "<html>")
		}
	})
	for _, tc := range []struct{ replica, url, want string }{
		{"b", bad + "/down", "scrape of b: " + bad + "/down: status 503 Service Unavailable, want 200"},
		{"b", bad + "/slow", "context deadline exceeded"},
		{"b", bad + "/large", "more than 16777216 bytes"},
		{"b", bad, "scrape of b: " + bad + ": no metric of vLLM or SGLang"},
		{"b", "http://127.0.0.1:1", "connect"},
		{"b", ":", "missing protocol scheme"},
		{"c", url, `pool: unknown replica "c"`},
	} {
		s.Timeout = 10 * time.Second
		if strings.HasSuffix(tc.url, "/slow") {
			s.Timeout = time.Millisecond
		}
		err := s.Scrape(t.Context(), promsignals.Target{Replica: tc.replica, URL: tc.url})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %s", err, tc.want)
		}
	}
	if got := p.Snapshot().Replicas[1].Signals; got != want {
		t.Errorf("after failures: %+v, want %+v", got, want)
	}
}

// Adapters whose requests wait are in use as well, and one in both lists is one. Slots stay known while none is told.
func TestScrapeAdaptersInUse(t *testing.T) {
	p := newPool(t)
	ids := map[string]policies.ID{"a": 1, "b": 2, "c": 3}
	s := &promsignals.Scraper{Pool: p, Now: counter(), Adapter: func(name string) policies.ID { return ids[name] }}
	page := `vllm:num_requests_waiting 3
vllm:lora_requests_info{max_lora="2",running_lora_adapters="b,a",waiting_lora_adapters="c,b"} 7
`
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/idle" {
			page = "vllm:num_requests_waiting 0\n"
		}
		fmt.Fprint(w, page)
	})
	for n, want := range [...]struct {
		path     string
		adapters []policies.ID
	}{{"/", []policies.ID{1, 2, 3}}, {"/idle", nil}} {
		if err := s.Scrape(t.Context(), promsignals.Target{Replica: "a", URL: url + want.path}); err != nil {
			t.Fatal(err)
		}
		r := p.Snapshot().Replicas[0]
		if !slices.Equal(r.Adapters, want.adapters) || r.Signals.MaxAdapters != 2 || r.Signals.Resident {
			t.Errorf("scrape %d: adapters %v of %d slots, resident %v, want %v of 2 in use", n, r.Adapters, r.Signals.MaxAdapters, r.Signals.Resident, want.adapters)
		}
	}
}

// A replica that has told its adapters and tells none now has none; one that never told is unknown.
func TestScrapeAdaptersGone(t *testing.T) {
	p := newPool(t)
	s := &promsignals.Scraper{Pool: p, Now: counter(), Adapter: func(string) policies.ID { return 7 }}
	lora := "vllm:lora_requests_info{running_lora_adapters=\"sql\"} 1\n"
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "vllm:num_requests_waiting 3\n")
		if r.URL.Path == "/told" {
			fmt.Fprint(w, lora)
		}
	})
	for _, tc := range []struct {
		replica  int
		path     string
		told     bool
		adapters int
	}{{0, "/", false, 0}, {0, "/told", true, 1}, {1, "/", false, 0}, {0, "/", true, 0}, {0, "/told", true, 1}} {
		name := []string{"a", "b"}[tc.replica]
		if err := s.Scrape(t.Context(), promsignals.Target{Replica: name, URL: url + tc.path}); err != nil {
			t.Fatal(err)
		}
		r := p.Snapshot().Replicas[tc.replica]
		if told := r.Signals.Have&policies.HasAdapters != 0; told != tc.told || len(r.Adapters) != tc.adapters {
			t.Errorf("%s%s: told %v, adapters %v, want %v and %d", name, tc.path, told, r.Adapters, tc.told, tc.adapters)
		}
	}
}

// Run goes on until it is told to stop, whatever fails, and every target has its turn again and again.
func TestScraperRun(t *testing.T) {
	p := newPool(t)
	var a, failed atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	enough := func() {
		if a.Load() >= 3 && failed.Load() >= 3 {
			stop()
		}
	}
	good := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "vllm:num_requests_waiting %d\n", a.Add(1))
		enough()
	})
	bad := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) })
	s := &promsignals.Scraper{Pool: p, Now: counter(), Interval: time.Millisecond, Timeout: time.Minute,
		Failed: func(target promsignals.Target, err error) {
			if target.Replica != "b" {
				t.Errorf("%s failed: %v", target.Replica, err)
			}
			failed.Add(1)
			enough()
		}}
	err := s.Run(ctx, []promsignals.Target{{Replica: "a", URL: good}, {Replica: "b", URL: bad}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	v := p.Snapshot()
	if v.Replicas[0].Signals.Waiting < 2 || v.Replicas[1].Signals.Have != 0 {
		t.Errorf("signals %+v and %+v, want reports of a and none of b", v.Replicas[0].Signals, v.Replicas[1].Signals)
	}
	if err := (&promsignals.Scraper{}).Run(ctx, nil); err == nil || err.Error() != "scraper: Pool and Now are wanted" {
		t.Errorf("an empty scraper: error %v", err)
	}
}
