package reports

import "sort"

// Windows of a trace for paired comparison. Requests of one run are not replicates: they queue behind one another, so a
// thousand of them tell little more than a few. Windows of minutes, cut where the traffic pauses, hardly touch each other.
const (
	windowTarget = 12 // wanted
	windowLeast  = 8  // with fewer there is no interval
	windowSize   = 30 // requests that a window has at least
)

// cutWindows returns where windows of about equal counts begin, and the end. Each cut is at the largest gap between
// arrivals, seconds and in order, within a quarter of a window of where it should be. Nil if there are too few arrivals.
func cutWindows(arrivals []float64) []int {
	n := len(arrivals)
	windows := min(windowTarget, n/windowSize)
	if windows < windowLeast {
		return nil
	}
	cuts := []int{0}
	for k := 1; k < windows; k++ {
		cuts = append(cuts, quietest(arrivals, k*n/windows, n/windows/4))
	}
	return append(cuts, n)
}

// quietest returns the index with the largest gap before it within reach of at, the nearest of equals.
func quietest(arrivals []float64, at, reach int) int {
	best := at
	gap := func(i int) float64 { return arrivals[i] - arrivals[i-1] }
	for d := 1; d <= reach; d++ {
		for _, i := range []int{at - d, at + d} {
			if gap(i) > gap(best) {
				best = i
			}
		}
	}
	return best
}

// nearestRank is the smallest value that at least percent of a sample do not exceed; it sorts the sample.
func nearestRank(x []float64, percent int) float64 {
	sort.Float64s(x)
	return x[(percent*len(x)+99)/100-1]
}
