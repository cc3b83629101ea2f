package main

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/cupwriter"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress shows a bar on a terminal once the work has gone on for a while.
type progress struct {
	done, total atomic.Int64
	quit        chan struct{}
	finished    sync.WaitGroup
}

// startProgress shows nothing if w is not a terminal.
func startProgress(w io.Writer, patience time.Duration) *progress {
	p := &progress{quit: make(chan struct{})}
	f, ok := w.(*os.File)
	if !ok || !cupwriter.New(f, false).IsTerminal() {
		return p
	}
	p.finished.Add(1)
	go func() {
		defer p.finished.Done()
		p.show(f, patience)
	}()
	return p
}

// report takes requests played so far and in all; it may be called from several goroutines.
func (p *progress) report(done, total int64) {
	p.done.Store(done)
	p.total.Store(total)
}

// stop takes the bar away.
func (p *progress) stop() {
	close(p.quit)
	p.finished.Wait()
}

func (p *progress) show(f *os.File, patience time.Duration) {
	select {
	case <-p.quit:
		return
	case <-time.After(patience):
	}
	bars := mpb.New(mpb.WithOutput(f), mpb.WithWidth(40))
	bar := bars.AddBar(0, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name("replaying ")),
		mpb.AppendDecorators(decor.CountersNoUnit("%d / %d requests")))
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			bar.Abort(true)
			bars.Wait()
			return
		case <-tick.C:
			bar.SetTotal(p.total.Load(), false)
			bar.SetCurrent(p.done.Load())
		}
	}
}
