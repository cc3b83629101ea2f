package calibrate

// solveSteps fits the coefficients that are free to steps, by least squares of relative errors; the others stay where they
// start. It returns all of them but the overhead.
func (f *form) solveSteps(steps []Step, free []bool) []float64 {
	x, floor := f.starts(free)
	q := f.stepNormal(steps, free, x)
	d := q.step(x, floor, 0)
	return f.spread(add(x, d), free)[:len(f.coefs)-1]
}

// stepNormal is the problem of steps around x, in units of the starts.
func (f *form) stepNormal(steps []Step, free []bool, x []float64) *normal {
	q := newNormal(len(x), min(windows, len(steps)))
	all := f.spread(x, free)
	for i, s := range steps {
		var row []float64
		r := -1.0
		for k, p := range f.parts(s.Batch) {
			r += float64(all[k] * p / s.Seconds)
			if free[k] {
				row = append(row, float64(f.coefs[k].start*p/s.Seconds))
			}
		}
		q.add(i*len(q.part)/len(steps), row, row, r)
	}
	return q
}

// starts are the free coefficients in units of their starts, and the least that they may be.
func (f *form) starts(free []bool) (x, floor []float64) {
	for k := range free {
		if free[k] {
			x = append(x, 1)
			floor = append(floor, f.coefs[k].floor/f.coefs[k].start)
		}
	}
	return x, floor
}

// spread turns free coefficients in units of their starts into all of them; the others are at their starts.
func (f *form) spread(x []float64, free []bool) []float64 {
	out := make([]float64, len(f.coefs))
	i := 0
	for k := range f.coefs {
		out[k] = f.coefs[k].start
		if k < len(free) && free[k] {
			out[k] *= x[i]
			i++
		}
	}
	return out
}

func add(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] + b[i]
	}
	return out
}
