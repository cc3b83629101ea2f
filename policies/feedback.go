package policies

import (
	"math"
	"time"
)

// decaying is a mean of samples, each of which loses half its weight in a half-life; one of 0 is endless.
type decaying struct {
	sum, weight float64
	at          time.Duration // as of when
}

// age lets time pass.
func (d *decaying) age(now, half time.Duration) {
	if now > d.at && half > 0 {
		left := math.Exp2(-float64(now-d.at) / float64(half))
		d.sum *= left
		d.weight *= left
		d.at = now
	}
}

// add takes in a sample of a weight: it stands for x in all, x/weight each.
func (d *decaying) add(x, weight float64, now, half time.Duration) {
	d.age(now, half)
	d.sum += x
	d.weight += weight
}

// towards is the mean with one more sample, of weight 1, of what is usual: with no recent samples it is what is usual. It
// is 0, unknown, if that is.
func (d *decaying) towards(usual float64) float64 {
	if usual == 0 {
		return 0
	}
	return (d.sum + usual) / (d.weight + 1)
}

// mean is 0, unknown, if nothing was measured for so long (some 40 half-lives) that the weight is gone.
func (d *decaying) mean() float64 {
	if d.weight < 1e-12 {
		return 0
	}
	return d.sum / d.weight
}

// measures are what is measured of a replica: its TTFT and TPOT in seconds, by request; and its prefill rate in tokens a
// second, by second, so that a request with a long prompt counts for more.
type measures [3]decaying

const (
	ofTTFT = iota
	ofTPOT
	ofRate
)

func (m *measures) age(now, half time.Duration) {
	for k := range m {
		m[k].age(now, half)
	}
}

// take adds up what was measured elsewhere.
func (m *measures) take(n *measures) {
	for k := range m {
		m[k].sum += n[k].sum
		m[k].weight += n[k].weight
	}
}

// feedback is what a Book measures.
type feedback struct {
	half     time.Duration
	tuned    time.Duration // when Local was last worked out
	replicas []measures
}

// timing is what a ticket keeps for the feedback.
type timing struct {
	since time.Duration // its dispatch, or its first token if that came
	ahead int64         // uncached tokens ahead of the first token, the request's own included
}

// Measure lets the book fill in TTFT, TPOT and PrefillRate of Local from now on, by samples that lose half their weight
// in halfLife; 0 is never. See Tune.
func (b *Book) Measure(halfLife time.Duration) {
	if b.feedback == nil {
		b.feedback = &feedback{replicas: make([]measures, len(b.Local))}
	}
	b.feedback.half = halfLife
}

// Tune works out what was measured as of now, if that is due: a sample in Local is at most a 64th of a half-life old. It
// is to be called before each Pick. A replica that is sent nothing drifts back to the mean of its model, so that it is
// tried again; one that was never measured is there from the start.
func (b *Book) Tune(now time.Duration, replicas []Replica) {
	f := b.feedback
	if f == nil || now-f.tuned < f.half/64 {
		return
	}
	f.tuned = now
	usual := map[ID]*measures{} // by model, for lookup only
	for i := range f.replicas {
		f.replicas[i].age(now, f.half)
		model := replicas[i].Model
		if usual[model] == nil {
			usual[model] = &measures{}
		}
		usual[model].take(&f.replicas[i])
	}
	for i := range f.replicas {
		l, m, all := &b.Local[i], &f.replicas[i], usual[replicas[i].Model]
		l.TTFT = m[ofTTFT].towards(all[ofTTFT].mean())
		l.TPOT = m[ofTPOT].towards(all[ofTPOT].mean())
		l.PrefillRate = float32(m[ofRate].towards(all[ofRate].mean()))
	}
}

func (f *feedback) firstToken(now time.Duration, t *Ticket) {
	m, seconds := &f.replicas[t.Replica], (now - t.since).Seconds()
	m[ofTTFT].add(seconds, 1, now, f.half)
	m[ofRate].add(float64(t.ahead), seconds, now, f.half)
	t.since = now
}

// done takes in the TPOT of a request whose first token came.
func (f *feedback) done(now time.Duration, t *Ticket) {
	if t.Output > 1 {
		f.replicas[t.Replica][ofTPOT].add((now-t.since).Seconds()/float64(t.Output-1), 1, now, f.half)
	}
}

// join adds a replica; it does nothing on nil.
func (f *feedback) join() {
	if f != nil {
		f.replicas = append(f.replicas, measures{})
	}
}

// leave drops replica i, whose place the last takes; it does nothing on nil.
func (f *feedback) leave(i int) {
	if f == nil {
		return
	}
	last := len(f.replicas) - 1
	f.replicas[i] = f.replicas[last]
	f.replicas = f.replicas[:last]
}

// FeedbackUser is an optional interface of policies that look at what the router measures: the caller is to let its Book
// Measure and Tune.
type FeedbackUser interface {
	// Feedback returns the half-life of the samples; false if the policy looks at none.
	Feedback() (halfLife time.Duration, wanted bool)
}

// Feedback tells whether a term counts TTFT, TPOT or the prefill rate.
func (s *Score) Feedback() (halfLife time.Duration, wanted bool) {
	c := &s.config
	wanted = c.Weights.TTFT > 0 || c.Weights.TPOT > 0 || c.Norm == NormTime && c.Rate == 0 && c.Weights.Queue > 0
	return c.HalfLife, wanted
}
