package reports

import "sort"

// Windows of a trace for paired comparison. Requests of one run are not replicates: they queue behind one another, so a
// thousand of them tell little more than a few. Windows of minutes, cut where the traffic pauses, hardly touch each other.
const (
	windowTarget = 12 // wanted
	windowLeast  = 8  // with fewer there is no interval
	windowSize   = 30 // requests that a window has at least
	beyond       = 10 // values that a window has at least beyond a quantile
)

// windowNeeds is how many values a window needs at least for a statistic, so that a quantile is not one of the largest few.
func windowNeeds(statistic string) int {
	percent, ok := percents[statistic]
	if !ok {
		return windowSize
	}
	return max(windowSize, (100*beyond+99-percent)/(100-percent))
}

// percents are the quantiles of windows.
var percents = map[string]int{"p50": 50, "p90": 90, "p95": 95, "p99": 99}

// cutWindows returns where windows of about equal counts begin, and the end. Each cut is at the largest gap between
// arrivals, seconds and in order, within a quarter of a window of where it should be and at least size arrivals from the
// next. Nil if there are too few arrivals.
func cutWindows(arrivals []float64, size int) []int {
	n := len(arrivals)
	windows := min(windowTarget, n/size)
	if windows < windowLeast {
		return nil
	}
	cuts := []int{0}
	for k := 1; k < windows; k++ {
		at, reach := k*n/windows, n/windows/4
		from, to := max(at-reach, cuts[k-1]+size), min(at+reach, n-(windows-k)*size)
		cuts = append(cuts, quietest(arrivals, at, from, to))
	}
	return append(cuts, n)
}

// quietest returns the index in from..to with the largest gap before it, the nearest to at of equals.
func quietest(arrivals []float64, at, from, to int) int {
	best := min(max(at, from), to)
	gap := func(i int) float64 { return arrivals[i] - arrivals[i-1] }
	away := func(i int) int { return max(i-at, at-i) }
	for i := from; i <= to; i++ {
		if gap(i) > gap(best) || gap(i) == gap(best) && away(i) < away(best) {
			best = i
		}
	}
	return best
}

// nearestRank is the smallest value that at least percent of a sample do not exceed; it sorts the sample.
func nearestRank(x []float64, percent int) float64 {
	sort.Float64s(x)
	return x[(percent*len(x)+99)/100-1]
}
