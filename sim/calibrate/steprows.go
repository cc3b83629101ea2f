package calibrate

import (
	"errors"
	"fmt"

	"github.com/seed-2cee110a/triage/engine"
)

// addStep adds a step, unless it is of other replicas.
func (l *Log) addStep(r *row, only Only) error {
	tp := r.whole(fTP, 1, 0)
	if r.err == nil && (other(only.Model, r.text[fModel]) || other(only.GPU, r.text[fGPU]) || only.TP > 0 && tp > 0 && int(tp) != only.TP) {
		l.others++
		return nil
	}
	if of := [3]string{r.text[fModel], r.text[fGPU], r.text[fTP]}; len(l.Steps) == 0 {
		l.of = of
	} else if of != l.of {
		return fmt.Errorf("%s: the step is of %s on %s x %s, those before are of %s on %s x %s; want the steps of one kind of replica, or --model, --gpu and --tp to choose",
			r.at, of[0], of[2], of[1], l.of[0], l.of[2], l.of[1])
	}
	s := Step{Line: r.line, Seconds: r.seconds(fSeconds), Batch: engine.Batch{
		PrefillTokens: int(r.whole(fPrefill, 0, 0)), PrefillSeqs: int(r.whole(fPrefillSeqs, 0, 0)),
		Decode: int(r.whole(fDecode, 0, 0)), KVTokens: r.whole(fKV, 0, 0)}}
	s.PrefillContext = r.whole(fContext, 0, -1)
	if r.err != nil {
		return r.err
	}
	if s.PrefillTokens > 0 && s.PrefillSeqs == 0 {
		s.PrefillSeqs = 1
	}
	if s.PrefillContext < 0 { // prompts from their start, all of the same length
		each := int64(s.PrefillTokens) / int64(max(1, s.PrefillSeqs))
		s.PrefillContext = int64(s.PrefillTokens) * (each + 1) / 2
	}
	switch {
	case !(s.Seconds > 0 && s.Seconds < 1000):
		r.bad(fSeconds, "a time above 0 and below 1000 s")
	case s.PrefillTokens == 0 && s.Decode == 0:
		r.err = fmt.Errorf("%s: the step has neither prefill tokens nor decoding sequences", r.at)
	case max(s.PrefillTokens, s.Decode) > 1<<20:
		r.err = errors.New(r.at + ": the step has more than 1048576 tokens")
	}
	l.Steps = append(l.Steps, s)
	return r.err
}

func other(wanted, is string) bool { return wanted != "" && is != "" && wanted != is }
