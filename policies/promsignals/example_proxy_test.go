package promsignals_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/policies/promsignals"
)

// proxy sends completions to the replica that the pool picks. A replica's name is its URL.
type proxy struct {
	pool     *policies.Pool
	weights  atomic.Pointer[policies.WeightsFile]
	models   map[string]policies.ID
	began    time.Time
	patience time.Duration // longest wait of a request that no replica has room for
	held     chan struct{} // requests that wait; its capacity is how many may
	keys     atomic.Uint64
}

func (p *proxy) now() time.Duration { return time.Since(p.began) }

// load reads the weights file, at the start and whenever it may have changed. A file that is broken changes nothing.
func (p *proxy) load(file string, c policies.PoolConfig) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	w, err := policies.DecodeWeights(data)
	if err != nil {
		return err
	}
	return p.use(w, c)
}

// use puts weights in force. Those that the pool refuses change nothing.
func (p *proxy) use(w policies.WeightsFile, c policies.PoolConfig) (err error) {
	if p.pool == nil {
		p.pool, err = policies.NewPool(w, c)
	} else {
		err = p.pool.Swap(w)
	}
	if err == nil {
		p.weights.Store(&w)
	}
	return err
}

func (p *proxy) join(address string) error {
	if _, err := url.Parse(address); err != nil {
		return err
	}
	return p.pool.Join(policies.Replica{Name: address, Model: 1})
}

// completion is what the proxy looks at of a request's body.
type completion struct {
	Model     string `json:"model"`
	Prompt    string `json:"prompt"`
	MaxTokens int32  `json:"max_tokens"`
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 64<<20))
	var c completion
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, err.Error())
		return
	case p.models[c.Model] == 0:
		refuse(w, http.StatusNotFound, fmt.Sprintf("unknown model %q", c.Model))
		return
	}
	r, err := p.request(&c)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	lease, action := p.route(req.Context(), r)
	switch action {
	case policies.Dispatch:
		p.forward(w, req, body, lease)
	case policies.Shed:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "too many requests wait for room")
	case policies.Hold:
		refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("no replica had room within %v", p.patience))
	default:
		refuse(w, http.StatusServiceUnavailable, "no replica serves this model")
	}
}

// request says what is known of a completion. Its tokens are estimated: a router with a tokenizer would use
// Chain.Tokens.
func (p *proxy) request(c *completion) (*policies.Request, error) {
	chain, err := p.weights.Load().NewChain(policies.Scope{Model: c.Model})
	if err != nil {
		return nil, err
	}
	return &policies.Request{Key: p.keys.Add(1), Model: p.models[c.Model], PromptTokens: max(1, policies.TextTokens(len(c.Prompt))),
		EstOutput: c.MaxTokens, MaxOutput: c.MaxTokens, Blocks: chain.Text(nil, c.Prompt), Arrived: p.now()}, nil
}

// route asks the pool, again and again while the request is held.
func (p *proxy) route(ctx context.Context, r *policies.Request) (policies.Lease, policies.Action) {
	var late <-chan time.Time
	for {
		changed := p.pool.Changed()
		lease, d := p.pool.Route(r, p.now())
		if d.Action != policies.Hold {
			return lease, d.Action
		}
		if late == nil {
			select {
			case p.held <- struct{}{}:
				defer func() { <-p.held }()
			default:
				return lease, policies.Shed
			}
			late = time.After(p.patience)
		}
		select {
		case <-changed:
		case <-late:
			return lease, policies.Hold
		case <-ctx.Done():
			return lease, policies.Hold
		}
	}
}

func refuse(w http.ResponseWriter, status int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": reason, "code": status}})
}

// forward streams the answer and ends the lease.
func (p *proxy) forward(w http.ResponseWriter, req *http.Request, body []byte, lease policies.Lease) {
	defer func() { lease.Fail(p.now()) }() // does nothing if the answer came to its end
	backend, err := url.Parse(lease.Replica)
	if err != nil {
		refuse(w, http.StatusBadGateway, err.Error())
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	reverse := httputil.ReverseProxy{
		FlushInterval: -1, // every event at once
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(backend)
			r.Out.ContentLength = int64(len(body))
		},
		ModifyResponse: func(resp *http.Response) error {
			if resp.StatusCode == http.StatusOK {
				resp.Body = &stream{ReadCloser: resp.Body, lease: lease, now: p.now}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			refuse(w, http.StatusBadGateway, lease.Replica+": "+err.Error())
		},
	}
	reverse.ServeHTTP(w, req)
}

// stream watches an answer go by: the first byte is the first token, an event is a token.
type stream struct {
	io.ReadCloser
	lease  policies.Lease
	now    func() time.Duration
	events int32
}

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.ReadCloser.Read(b)
	if n > 0 {
		s.lease.FirstToken(s.now())
		s.events += int32(bytes.Count(b[:n], []byte("data: ")))
	}
	if err == io.EOF {
		s.lease.Output(s.events)
		s.lease.Done(s.now())
	}
	return n, err
}

// fakeEngine answers as an OpenAI-compatible server of vLLM does.
type fakeEngine struct {
	running, served atomic.Int64
	serving         func() // called in the middle of every answer, if not nil
}

func (e *fakeEngine) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path == "/metrics" {
		fmt.Fprintf(w, "vllm:num_requests_running %d\nvllm:num_requests_waiting 0\nvllm:kv_cache_usage_perc 0\n", e.running.Load())
		fmt.Fprint(w, `vllm:cache_config_info{block_size="16",num_gpu_blocks="10000"} 1`, "\n")
		return
	}
	e.running.Add(1)
	defer e.running.Add(-1)
	var c completion
	if err := json.NewDecoder(req.Body).Decode(&c); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, event := range answer(c) {
		io.WriteString(w, event)
		w.(http.Flusher).Flush()
		if i == 0 && e.serving != nil {
			e.serving()
		}
	}
	e.served.Add(1)
}

// answer is the events that a completion gets from every engine.
func answer(c completion) (events []string) {
	for i := range c.MaxTokens {
		events = append(events, fmt.Sprintf("data: {\"choices\":[{\"text\":\" %d of %d\"}]}\n\n", i, len(c.Prompt)))
	}
	return append(events, "data: [DONE]\n\n")
}

// A reverse proxy for three replicas: weights from a file, signals from /metrics, prefixes from the prompts' text, and
// a log of decisions that can be decided again.
func Example() {
	dir, err := os.MkdirTemp("", "proxy")
	check(err)
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "weights.json")
	w := policies.WeightsFile{Config: policies.DefaultScore(), Chain: policies.ChainV1, BlockTokens: 16}
	write(file, w)

	var log bytes.Buffer
	p := &proxy{models: map[string]policies.ID{"m": 1}, began: time.Now(), patience: 30 * time.Second, held: make(chan struct{}, 100)}
	check(p.load(file, policies.PoolConfig{Log: policies.NewDecisionLog(&log)}))
	scraper := promsignals.Scraper{Pool: p.pool, Now: p.now}
	var targets []promsignals.Target
	for range 3 {
		engine := httptest.NewServer(&fakeEngine{})
		defer engine.Close()
		check(p.join(engine.URL))
		targets = append(targets, promsignals.Target{Replica: engine.URL, URL: engine.URL + "/metrics"})
	}
	for _, t := range targets {
		check(scraper.Scrape(context.Background(), t)) // a router would go scraper.Run(ctx, targets)
	}
	front := httptest.NewServer(p)
	defer front.Close()

	talk := strings.Repeat("You are a helpful assistant. ", 100)
	for turn := range 3 {
		talk += fmt.Sprintf("And %d?", turn)
		resp, err := http.Post(front.URL+"/v1/completions", "application/json", body(completion{"m", talk, 2}))
		check(err)
		text, err := io.ReadAll(resp.Body)
		check(err)
		fmt.Println(resp.StatusCode, strings.Count(string(text), "data: "), "events")
	}
	w.Config.Weights.Affinity = 20
	write(file, w)
	check(p.load(file, policies.PoolConfig{}))
	fmt.Println("reloaded:", p.pool.Weights() == w.Sum())

	w.Config.Weights.Affinity = 10
	total, same, err := policies.ReplayLog(&log, w)
	fmt.Println(same, "of", total, "decisions come out the same,", err)
	// Output:
	// 200 3 events
	// 200 3 events
	// 200 3 events
	// reloaded: true
	// 3 of 3 decisions come out the same, <nil>
}

func body(c completion) io.Reader {
	data, err := json.Marshal(c)
	check(err)
	return bytes.NewReader(data)
}

func write(file string, w policies.WeightsFile) {
	data, err := w.Encode()
	check(err)
	check(os.WriteFile(file, data, 0o644))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
