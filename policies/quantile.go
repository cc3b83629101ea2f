package policies

import "math/bits"

// quantile is a running 75th percentile of whole numbers from 0 on: a histogram whose counts are halved now and then, so
// that old numbers fade. It counts in 8 buckets an octave and answers with the upper end of one, which is at most an
// eighth above the true percentile of what it counts.
type quantile struct {
	counts [quantileBuckets]uint32
	total  int32
	at     int32 // bucket of the percentile
	below  int32 // counted in the buckets before it
}

const (
	quantileBuckets = 29 * 8  // all of int32
	quantileRecent  = 1 << 12 // the counts are halved when there are so many
)

// add counts a number.
func (q *quantile) add(x int32) {
	b := bucketOf(x)
	q.counts[b]++
	q.total++
	if b < q.at {
		q.below++
	}
	q.settle()
}

// age halves the counts if there are many. It is not done as numbers are counted, so that the order of those that come
// between two calls does not matter.
func (q *quantile) age() {
	if q.total >= quantileRecent {
		q.fade()
		q.settle()
	}
}

// settle finds the bucket of the percentile by nearest rank, from where it was.
func (q *quantile) settle() {
	rank := (3*q.total + 3) / 4 // ceil(0.75 * total)
	for q.below >= rank && q.at > 0 {
		q.at--
		q.below -= int32(q.counts[q.at])
	}
	for q.below+int32(q.counts[q.at]) < rank {
		q.below += int32(q.counts[q.at])
		q.at++
	}
}

// fade halves the counts, rounding up so that nothing rare is forgotten at once.
func (q *quantile) fade() {
	q.total, q.below = 0, 0
	for b := range q.counts {
		q.counts[b] = (q.counts[b] + 1) / 2
		q.total += int32(q.counts[b])
		if int32(b) < q.at {
			q.below += int32(q.counts[b])
		}
	}
}

// value returns the percentile, 0 if nothing was counted.
func (q *quantile) value() int32 {
	if q.total == 0 {
		return 0
	}
	return bucketEnd(q.at)
}

// bucketOf numbers the buckets: those below 8 hold one number each, then each octave is cut in 8.
func bucketOf(x int32) int32 {
	if x < 8 {
		return max(0, x)
	}
	octave := int32(bits.Len32(uint32(x))) - 4
	return 8*octave + x>>octave
}

// bucketEnd is the largest number in a bucket.
func bucketEnd(b int32) int32 {
	if b < 16 {
		return b
	}
	octave := b/8 - 1
	return int32((int64(b-8*octave)+1)<<octave - 1)
}
