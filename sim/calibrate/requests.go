package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/seed-2cee110a/triage/engine"
)

// addRequest adds a row. Requests that failed stay as load if it is known what they were.
func (l *Log) addRequest(r *row, o ReadOptions) error {
	if r.has(fPolicy) && r.text[fPolicy] != cmp.Or(o.Policy, l.policy) {
		if o.Policy != "" || l.policy != "" {
			l.others++
			return nil
		}
		l.policy = r.text[fPolicy]
	}
	q := Request{Line: r.line, TTFT: r.seconds(fTTFT), E2E: r.seconds(fE2E), id: r.text[fPromptID], session: r.text[fSession], Replica: r.text[fReplica], blocks: r.blocks}
	at := r.seconds(fArrival)
	prompt, output := r.whole(fPrompt, 1, 0), r.whole(fOutput, 0, 0)
	hit := r.whole(fHit, 0, 0)
	if l.prompts != nil {
		n := r.whole(fRow, 0, -1)
		if n < 0 || n >= int64(len(l.prompts)) {
			return fmt.Errorf("%s: row is %q, want one of the %d rows of the trace", r.at, r.text[fRow], len(l.prompts))
		}
		q.blocks, q.session = l.prompts[n], l.sessions[n]
	}
	wait := r.seconds(fWait)
	if r.err != nil {
		return r.err
	}
	failed := r.has(fStatus) && !slices.Contains([]string{"completed", "ok"}, r.text[fStatus]) || math.IsNaN(q.TTFT) && math.IsNaN(q.E2E)
	if failed && (prompt == 0 || output == 0 || math.IsNaN(at) || r.text[fStatus] == "rejected") {
		l.failed++
		return nil
	}
	if err := r.complete(&q, at, prompt, output, failed); err != nil {
		return err
	}
	if failed {
		q.TTFT, q.E2E = math.NaN(), math.NaN()
		l.failed++
	}
	if wait > 0 {
		at, q.TTFT, q.E2E = at+wait, q.TTFT-wait, q.E2E-wait
	}
	if hit > 0 {
		l.hits++
	}
	if q.id == "-1" {
		q.id = ""
	}
	l.arrivals = append(l.arrivals, at)
	q.Prompt, q.Output = int32(prompt), int32(max(1, output))
	l.Requests = append(l.Requests, q)
	return nil
}

// complete says what a request lacks.
func (r *row) complete(q *Request, at float64, prompt, output int64, failed bool) error {
	switch {
	case math.IsNaN(at):
		r.bad(fArrival, "a time")
	case prompt == 0 || prompt > most:
		r.bad(fPrompt, "a number of tokens of at least 1")
	case !r.has(fOutput) || output > most:
		r.bad(fOutput, "a number of tokens: without output lengths nothing can be fitted")
	case failed:
	case math.IsNaN(q.TTFT):
		r.bad(fTTFT, "a time, as the other latency has one")
	case math.IsNaN(q.E2E):
		r.bad(fE2E, "a time, as the other latency has one")
	case q.TTFT > q.E2E:
		r.err = fmt.Errorf("%s: %s is %s, more than %s with %s; want the first token before the last", r.at,
			columns[r.column[fTTFT]].name, r.text[fTTFT], columns[r.column[fE2E]].name, r.text[fE2E])
	case q.TTFT == 0:
		r.bad(fTTFT, "more than 0")
	}
	return r.err
}

// finish sorts the requests and looks at how they were sent.
func (l *Log) finish() error {
	if l.others > 0 {
		l.note("%d rows about other policies or replicas are left out", l.others)
	}
	if len(l.Steps) > 0 {
		return nil
	}
	if len(l.Requests) == 0 {
		return fmt.Errorf("%s: the log has no requests, or none that was served", l.Name)
	}
	if l.failed > 0 {
		l.note("%d requests failed: they count as load where it is known what they were", l.failed)
	}
	first := slices.Min(l.arrivals)
	for i := range l.Requests {
		s := l.arrivals[i] - first
		if s > 1e6 {
			return fmt.Errorf("%s:%d: the arrival is %.0f s after the first, want at most 1e6", l.Name, l.Requests[i].Line, s)
		}
		l.Requests[i].At = engine.Time(math.Round(s*1e9)) * engine.Nanosecond
	}
	slices.SortStableFunc(l.Requests, func(a, b Request) int { return cmp.Compare(a.At, b.At) })
	for i := range l.Requests {
		l.identity = l.identity || l.Requests[i].id != "" || l.Requests[i].blocks != nil
	}
	if l.hits > 0 && !l.identity {
		return fmt.Errorf("%s: %d requests found part of their prompt in the cache, and the log does not say which prompts are alike; "+
			"want a column prompt_id, hash_ids, outcomes as Parquet, or the trace that was replayed (--trace)", l.Name, l.hits)
	}
	l.lookForWindow()
	return nil
}

// replicas returns their names in order of appearance.
func (l *Log) replicas() []string {
	var out []string
	for i := range l.Requests {
		if n := l.Requests[i].Replica; !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func fromSeconds(s float64) engine.Time { return engine.Time(math.Round(s * float64(engine.Second))) }
