package policies

import (
	"math"
	"time"
)

// decaying is a mean of samples, each of which loses half its weight in a half-life.
type decaying struct {
	sum, weight float64
	at          time.Duration // as of when
}

// age lets time pass.
func (d *decaying) age(now, half time.Duration) {
	if now > d.at {
		left := math.Exp2(-float64(now-d.at) / float64(half))
		d.sum *= left
		d.weight *= left
		d.at = now
	}
}

func (d *decaying) add(x float64, now, half time.Duration) {
	d.age(now, half)
	d.sum += x
	d.weight++
}

// towards is the mean with one more sample of what is usual: with no recent samples it is what is usual. It is 0,
// unknown, if that is.
func (d *decaying) towards(usual float64) float64 {
	if usual == 0 {
		return 0
	}
	return (d.sum + usual) / (d.weight + 1)
}

// feedBack works out TTFT and TPOT of all replicas in the book.
func (p *Pool) feedBack() {
	ttft, tpot := map[ID]*decaying{}, map[ID]*decaying{} // by model, for lookup only
	for i, m := range p.members {
		m.ttft.age(p.now, p.config.HalfLife)
		m.tpot.age(p.now, p.config.HalfLife)
		gather(ttft, p.replicas[i].Model, &m.ttft)
		gather(tpot, p.replicas[i].Model, &m.tpot)
	}
	for i, m := range p.members {
		l, model := &p.book.Local[i], p.replicas[i].Model
		l.TTFT = m.ttft.towards(ttft[model].mean())
		l.TPOT = m.tpot.towards(tpot[model].mean())
	}
}

func gather(all map[ID]*decaying, model ID, d *decaying) {
	if all[model] == nil {
		all[model] = &decaying{}
	}
	all[model].sum += d.sum
	all[model].weight += d.weight
}

// mean is 0, unknown, if nothing was measured for so long (some 40 half-lives) that the weight is gone.
func (d *decaying) mean() float64 {
	if d.weight < 1e-12 {
		return 0
	}
	return d.sum / d.weight
}
