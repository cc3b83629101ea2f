package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/cupwriter"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/seed-2cee110a/triage/sim/tune"
)

// searchPatience is how long a search goes on before it is told how far it is, and searchEvery how often that is told where
// there is no terminal.
const (
	searchPatience = time.Second / 2
	searchEvery    = 5 * time.Second
)

// searching shows how far a search is: a bar on a terminal, else a line now and then.
type searching struct {
	problem  tune.Problem
	began    time.Time
	quit     chan struct{}
	finished sync.WaitGroup

	mu     sync.Mutex
	latest tune.Progress
}

func startSearch(w io.Writer, p tune.Problem) *searching {
	s := &searching{problem: p, began: time.Now(), quit: make(chan struct{})}
	show := func() { s.lines(w) }
	if f, ok := w.(*os.File); ok && cupwriter.New(f, false).IsTerminal() {
		show = func() { s.bar(f) }
	}
	s.finished.Go(show)
	return s
}

func (s *searching) report(p tune.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = p
}

func (s *searching) now() tune.Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest
}

func (s *searching) done() int { return s.now().Done }

// stop takes the bar away.
func (s *searching) stop() {
	close(s.quit)
	s.finished.Wait()
}

func (s *searching) lines(w io.Writer) {
	tick := time.NewTicker(searchEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-tick.C:
			p := s.now()
			fmt.Fprintf(w, "%d of %d replays%s\n", p.Done, p.Total, s.note(p, time.Since(s.began)))
		}
	}
}

// note is the best point so far and the time that is left.
func (s *searching) note(p tune.Progress, used time.Duration) string {
	if p.Best < 0 || p.Done == 0 {
		return ""
	}
	left := time.Duration(float64(used) / float64(p.Done) * float64(p.Total-p.Done))
	return fmt.Sprintf(", %s left; best %s %.4g at %s", left.Round(time.Second), s.problem.Objective.Text, p.Value,
		s.problem.Space.Spec(p.Best).Text)
}

func (s *searching) bar(f *os.File) {
	select {
	case <-s.quit:
		return
	case <-time.After(searchPatience):
	}
	bars := mpb.New(mpb.WithOutput(f), mpb.WithWidth(20))
	bar := bars.AddBar(0, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name("replaying "), decor.CountersNoUnit("%d / %d")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return strings.TrimPrefix(s.note(s.now(), time.Since(s.began)), ", ") })))
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.quit:
			bar.Abort(true)
			bars.Wait()
			return
		case <-tick.C:
			p := s.now()
			bar.SetTotal(int64(p.Total), false)
			bar.SetCurrent(int64(p.Done))
		}
	}
}
