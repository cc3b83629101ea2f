package calibrate

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// level is that of the intervals.
const level = 0.95

// normal is a least-squares problem in few unknowns: A = J'J, b = J'r, and the b of each part of the data, from which
// the uncertainty comes.
type normal struct {
	n    int
	a    []float64 // n by n
	b    []float64
	part [][]float64
}

func newNormal(n, parts int) *normal {
	q := &normal{n: n, a: make([]float64, n*n), b: make([]float64, n), part: make([][]float64, parts)}
	for i := range q.part {
		q.part[i] = make([]float64, n)
	}
	return q
}

// add takes in a row of J, as it was found twice, and its residual.
func (q *normal) add(part int, j, again []float64, r float64) {
	for i := range q.n {
		for k := range q.n {
			q.a[i*q.n+k] += float64(float64(j[i]*again[k])+float64(j[k]*again[i])) / 2
		}
		g := float64(float64(j[i]+again[i])*r) / 2
		q.b[i] += g
		q.part[part][i] += g
	}
}

// sweeps of coordinate descent; problems of six unknowns settle in far fewer.
const sweeps = 4000

// step minimises |J d + r|² + damp * sum a_ii d_i² with x + d >= floor, one unknown at a time.
func (q *normal) step(x, floor []float64, damp float64) []float64 {
	d := make([]float64, q.n)
	for range sweeps {
		moved := 0.0
		for i := range q.n {
			aii := float64(q.a[i*q.n+i] * (1 + damp))
			if aii == 0 {
				continue
			}
			g := q.b[i]
			for k := range q.n {
				if k != i {
					g += float64(q.a[i*q.n+k] * d[k])
				}
			}
			v := max(-g/aii, floor[i]-x[i])
			moved = max(moved, math.Abs(v-d[i]))
			d[i] = v
		}
		if moved < 1e-12 {
			break
		}
	}
	return d
}

// worstCondition is that of a normal matrix, scaled to ones on its diagonal, from which it counts as singular.
const worstCondition = 1e8

// halfWidths are those of the intervals: the sandwich estimate with the parts of the data as clusters, and Student's t.
// They are infinite if the matrix is singular.
func (q *normal) halfWidths() []float64 {
	out := make([]float64, q.n)
	scale := make([]float64, q.n)
	for i := range out {
		out[i] = math.Inf(1)
		if scale[i] = math.Sqrt(q.a[i*q.n+i]); !(scale[i] > 0) {
			return out
		}
	}
	a := mat.NewSymDense(q.n, nil)
	for i := range q.n {
		for k := i; k < q.n; k++ {
			a.SetSym(i, k, q.a[i*q.n+k]/scale[i]/scale[k])
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) || chol.Cond() > worstCondition {
		return out
	}
	var inverse mat.SymDense
	if chol.InverseTo(&inverse) != nil {
		return out
	}
	var meat, half, cov mat.Dense
	g := mat.NewDense(len(q.part), q.n, nil)
	for p, b := range q.part {
		for i := range b {
			g.Set(p, i, (b[i]-q.b[i]/float64(len(q.part)))/scale[i])
		}
	}
	meat.Mul(g.T(), g)
	half.Mul(&inverse, &meat)
	cov.Mul(&half, &inverse)
	parts := float64(len(q.part))
	t := distuv.StudentsT{Sigma: 1, Nu: max(1, parts-float64(q.n))}.Quantile(0.5 + level/2)
	for i := range out {
		out[i] = t * math.Sqrt(max(0, cov.At(i, i))*parts/max(1, parts-float64(q.n))) / scale[i]
	}
	return out
}

// inflation returns for each unknown how many times its variance grows because the others do much the same, at least 1:
// the variance inflation factor. It is infinite if the matrix is singular.
func (q *normal) inflation() []float64 {
	out := make([]float64, q.n)
	for i := range out {
		out[i] = math.Inf(1)
	}
	a := mat.NewSymDense(q.n, nil)
	for i := range q.n {
		for k := i; k < q.n; k++ {
			s := math.Sqrt(q.a[i*q.n+i]) * math.Sqrt(q.a[k*q.n+k])
			if !(s > 0) {
				return out
			}
			a.SetSym(i, k, q.a[i*q.n+k]/s)
		}
	}
	var chol mat.Cholesky
	var inverse mat.SymDense
	if !chol.Factorize(a) || chol.InverseTo(&inverse) != nil {
		return out
	}
	for i := range out {
		out[i] = inverse.At(i, i)
	}
	return out
}
