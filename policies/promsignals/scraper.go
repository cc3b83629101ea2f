package promsignals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/seed-2cee110a/triage/policies"
)

// Target is a replica of a pool and where it shows its metrics.
type Target struct {
	Replica string // name in the pool
	URL     string // as in http://10.0.0.1:8000/metrics
	Options Options
}

// Scraper reports what replicas say of themselves to a pool. A scrape that fails reports nothing: the last signals get
// old, which the policy judges by its own rule.
type Scraper struct {
	Pool     *policies.Pool
	Now      func() time.Duration          // the clock of Pool.Route
	Interval time.Duration                 // between two scrapes of a target; 0 is 1 s
	Timeout  time.Duration                 // of one scrape; 0 is the interval
	Client   *http.Client                  // nil is http.DefaultClient
	Adapter  func(name string) policies.ID // interns adapters as the requests' are; nil reports none
	Failed   func(Target, error)           // is told of every scrape that failed, by many goroutines; nil for nobody

	mu    sync.Mutex
	slots map[string]int32 // adapter slots of the replicas that have told their adapters
}

// maxPage bounds a page of metrics; vLLM's has some 100 KB.
const maxPage = 16 << 20

// Run scrapes the targets until the context ends, and returns its error. Target i of n is first scraped at i/n of the
// interval, so that the pages do not come all at once.
func (s *Scraper) Run(ctx context.Context, targets []Target) error {
	if s.Pool == nil || s.Now == nil {
		return errors.New("scraper: Pool and Now are wanted")
	}
	interval := s.interval()
	var all sync.WaitGroup
	for i, t := range targets {
		phase := interval * time.Duration(i) / time.Duration(len(targets))
		all.Go(func() { s.follow(ctx, t, phase, interval) })
	}
	all.Wait()
	<-ctx.Done()
	return ctx.Err()
}

func (s *Scraper) interval() time.Duration {
	if s.Interval > 0 {
		return s.Interval
	}
	return time.Second
}

// follow scrapes one target at its phase and then at every interval.
func (s *Scraper) follow(ctx context.Context, t Target, phase, interval time.Duration) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(phase):
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if err := s.Scrape(ctx, t); err != nil && ctx.Err() == nil && s.Failed != nil {
			s.Failed(t, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Scrape asks one target once. Its numbers count as taken when they were asked for.
func (s *Scraper) Scrape(ctx context.Context, t Target) error {
	timeout := s.Timeout
	if timeout <= 0 {
		timeout = s.interval()
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	asked := s.Now()
	page, err := s.page(ctx, t.URL)
	if err != nil {
		return fmt.Errorf("scrape of %s: %w", t.Replica, err)
	}
	m, err := Parse(page, t.Options)
	if err != nil {
		return fmt.Errorf("scrape of %s: %s: %w", t.Replica, t.URL, err)
	}
	m.Signals.SampledAt, m.Signals.ReceivedAt = asked, s.Now()
	s.remember(t.Replica, &m)
	if err := s.adapters(t.Replica, &m); err != nil {
		return err
	}
	return s.Pool.Report(t.Replica, m.Signals)
}

// remember reads an absent list of adapters as an empty one if the replica has told one before.
func (s *Scraper) remember(replica string, m *Metrics) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Signals.Have&policies.HasAdapters != 0 {
		if s.slots == nil {
			s.slots = map[string]int32{}
		}
		s.slots[replica] = m.Signals.MaxAdapters
	} else if slots, told := s.slots[replica]; told {
		m.Signals.Have |= policies.HasAdapters
		m.Signals.MaxAdapters = slots
	}
}

func (s *Scraper) adapters(replica string, m *Metrics) error {
	if s.Adapter == nil || m.Signals.Have&policies.HasAdapters == 0 {
		return nil
	}
	var ids []policies.ID
	for _, name := range m.inUse() {
		ids = append(ids, s.Adapter(name))
	}
	return s.Pool.ReportAdapters(replica, ids)
}

func (s *Scraper) page(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	client := s.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %s, want 200", url, resp.Status)
	}
	page, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	if err == nil && len(page) > maxPage {
		err = fmt.Errorf("%s: more than %d bytes", url, maxPage)
	}
	return page, err
}
