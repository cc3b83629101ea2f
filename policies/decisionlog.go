package policies

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// DecisionLog writes one JSON line a decision, with everything that Pick saw, so that ReplayLog can decide again. A line
// takes 1 KB to 1.7 KB with 8 replicas. It is safe for concurrent use; lines come in the order of the calls of Write.
type DecisionLog struct {
	mu    sync.Mutex
	w     io.Writer
	err   error // see Err
	ended bool
}

// NewDecisionLog returns a log on w, which gets one Write a line: buffer it if it is slow.
func NewDecisionLog(w io.Writer) *DecisionLog { return &DecisionLog{w: w} }

// Write logs what a policy decided about a request in a view; weights is the sum of the weights file in force. A
// decision that has no line is left out, and after an error of the writer the log ends: a decision does not fail for
// want of a log. See Err.
func (l *DecisionLog) Write(r *Request, v *View, d *Decision, weights string) {
	line := logLine{At: v.Now, Weights: weights, Request: logRequestOf(r, d), View: logViewOf(r, v), Decision: logDecisionOf(v, d)}
	data, err := json.Marshal(&line)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	if err == nil {
		_, err = l.w.Write(append(data, '\n'))
		l.ended = err != nil
	}
	if err != nil && (l.err == nil || l.ended) {
		l.err = fmt.Errorf("decision log: %w", err)
	}
}

// Err returns the error that ended the log, or the first for which a decision is not in it; nil if all are.
func (l *DecisionLog) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// ReplayLog decides again what a log has, by a weights file. It returns how many decisions there are, how many came out
// the same (action, replica, score and what was filtered out), and what is wrong with the first that did not. A line
// that cannot be read, or that was decided with other weights, is a decision that did not. A log without any proves
// nothing and is an error.
func ReplayLog(r io.Reader, w WeightsFile) (total, same int, firstDiff error) {
	if err := w.check(); err != nil {
		return 0, 0, fmt.Errorf("decision log: %w", err)
	}
	p, sum, lines := NewScore(w.Config), w.Sum(), bufio.NewReader(r)
	for {
		data, err := lines.ReadBytes('\n')
		if len(data) > 0 {
			total++
			if diff := replayLine(p, sum, data); diff == nil {
				same++
			} else if firstDiff == nil {
				firstDiff = fmt.Errorf("decision log: line %d: %w", total, diff)
			}
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) && firstDiff == nil {
			firstDiff = fmt.Errorf("decision log: after line %d: %w", total, err)
		}
		if total == 0 && firstDiff == nil {
			firstDiff = errors.New("decision log: empty, want at least one decision")
		}
		return total, same, firstDiff
	}
}

// replayLine says how one decision differs.
func replayLine(p Policy, sum string, data []byte) error {
	line, err := readLine(data)
	if err != nil {
		return err
	}
	if line.Weights != sum {
		return fmt.Errorf("decided with weights %q, not with %s", line.Weights, sum)
	}
	r, err := line.Request.request()
	if err != nil {
		return err
	}
	v, err := line.View.view(line.At, &r)
	if err != nil {
		return err
	}
	var d Decision
	p.Pick(&r, &v, &d)
	if got, want := logDecisionOf(&v, &d), line.Decision; !got.equal(&want) {
		return fmt.Errorf("now it is %s, the log has %s", got, want)
	}
	return nil
}
