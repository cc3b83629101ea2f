package traces

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"
)

// mooncakeBlock is the block size of the traces published with Mooncake
// (https://github.com/kvcache-ai/Mooncake, FAST25-release); the file does not say it.
const mooncakeBlock = 512

// epochMs tells wall clocks from clocks that start with the trace: the year 2001, in milliseconds.
const epochMs = 1_000_000_000_000

// manyPerSecond is a rate of requests, 1/s, that says more about the unit of the timestamps than about the traffic.
const manyPerSecond = 500

// detectMooncake wants a JSON object with one of the format's own keys. A chat_id means another format with the same
// keys but seconds and smaller blocks (Qwen-Bailian).
func detectMooncake(head []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte{'\n'})
	if !bytes.HasPrefix(first, []byte{'{'}) || bytes.Contains(first, []byte(`"chat_id"`)) {
		return false
	}
	for _, key := range []string{`"input_length"`, `"hash_ids"`, `"output_length"`} {
		if bytes.Contains(first, []byte(key)) {
			return true
		}
	}
	return false
}

func readMooncake(in *input) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		m := mooncake{in: in}
		in.meta.TimeUnitSource, in.meta.TimeResolution = "ms", int64(time.Millisecond)
		in.meta.BlockSize = int32(in.o.BlockSize)
		if in.o.BlockSize == 0 {
			in.meta.BlockSize = mooncakeBlock
		}
		for l, err := range in.lines() {
			if err != nil {
				yield(Record{}, err)
				return
			}
			r, err := m.record(l)
			if err != nil {
				yield(r, in.errorf(l.number, "%w", err))
				return
			}
			if !yield(r, nil) {
				break
			}
		}
		m.notes()
	}
}

// mooncake reads rows one by one.
type mooncake struct {
	in      *input
	row     mooncakeRow
	first   int64 // of a wall clock, ns
	rows    int64
	blocks  int64            // rows with ids
	parts   int64            // rows with fractions of a millisecond
	last    int64            // arrival, ns
	said    bool             // rows say the block size
	ignored map[string]int64 // rows, by key that nothing is made of
}

func (m *mooncake) record(l line) (Record, error) {
	r := NewRecord()
	r.Line = l.number
	if !m.row.scan(l.text) {
		if err := m.row.decode(l.text); err != nil {
			return r, err
		}
	}
	if err := m.time(&r); err != nil {
		return r, err
	}
	var err error
	if r.PromptTokens, err = tokenField("input_length", m.row.input, 1); err != nil {
		return r, err
	}
	if r.OutputTokens, err = tokenField("output_length", m.row.output, 0); err != nil {
		return r, err
	}
	for i, n := range nameKeys {
		*n.at(&r) = m.row.names[i]
	}
	m.ignore()
	m.rows++
	if !m.row.hasIDs {
		return r, nil
	}
	if err = m.blockSize(); err != nil {
		return r, err
	}
	m.blocks++
	r.Blocks = append(make([]int64, 0, len(m.row.ids)), m.row.ids...)
	_, err = tailOf(len(r.Blocks), r.PromptTokens, m.in.meta.BlockSize)
	return r, err
}

// blockSize takes the block size that a row says, which must be that of the rows before it and the one asked for.
func (m *mooncake) blockSize() error {
	if m.row.block == nil {
		return nil
	}
	size, err := tokenField("block_size", m.row.block, 1)
	if err != nil {
		return err
	}
	switch said := m.in.meta.BlockSize; {
	case size == said:
		m.said = true
		return nil
	case m.in.o.BlockSize != 0:
		return fmt.Errorf("block_size is %d, but --trace-block-size is %d; leave the flag out", size, said)
	case m.blocks > 0:
		return fmt.Errorf("block_size is %d, want %d as in the rows before", size, said)
	}
	m.in.meta.BlockSize, m.said = size, true
	return nil
}

// time reads the timestamp. An epoch time is turned into one since the first row.
func (m *mooncake) time(r *Record) error {
	ns, err := decimal(m.row.timestamp, 6)
	switch {
	case m.row.timestamp == nil:
		return errors.New("timestamp is missing, want a number of milliseconds")
	case err != nil && !errors.Is(err, errRange):
		return fmt.Errorf("timestamp is %s, want a number of milliseconds", quoteShort(m.row.timestamp))
	case m.row.timestamp[0] == '-':
		return fmt.Errorf("timestamp is %s, want at least 0", quoteShort(m.row.timestamp))
	case err != nil:
		return m.far()
	}
	if s := ns / 1e6; m.rows == 0 && s >= epochMs/1000 && s < 10*epochMs/1000 {
		return fmt.Errorf("timestamp is %s, which looks like seconds since 1970; want milliseconds", quoteShort(m.row.timestamp))
	}
	if m.rows == 0 && ns/1e6 >= epochMs {
		m.first = ns
		m.in.meta.T0UnixNs = ns
		m.in.note("timestamps are read as milliseconds since 1970 (%s); time 0 is the first row", time.Unix(0, ns).UTC().Format(time.RFC3339))
	}
	if m.first == 0 && ns > maxArrival.Nanoseconds() {
		return m.far()
	}
	if ns%1e6 != 0 {
		m.parts++
	}
	r.ArrivalNs = ns - m.first
	m.last = max(m.last, r.ArrivalNs)
	return nil
}

// far is the error about a timestamp beyond the limit. The clock of some servers counts in smaller units.
func (m *mooncake) far() error {
	unit := ""
	switch v, _ := strconv.ParseFloat(string(m.row.timestamp), 64); {
	case v >= 1e3*epochMs && v < 1e4*epochMs:
		unit = "; is it in microseconds since 1970?"
	case v >= 1e6*epochMs && v < 1e7*epochMs:
		unit = "; is it in nanoseconds since 1970?"
	}
	return fmt.Errorf("timestamp is %s, want at most %d (%d days, in milliseconds; %s) or an epoch in milliseconds%s",
		quoteShort(m.row.timestamp), maxArrival.Milliseconds(), maxDays, limitHint, unit)
}

// ignore counts the keys that nothing is made of.
func (m *mooncake) ignore() {
	for _, key := range m.row.ignored {
		if m.ignored == nil {
			m.ignored = map[string]int64{}
		}
		m.ignored[key]++
	}
}

// tokenField reads a token count.
func tokenField(name string, raw []byte, least int64) (int32, error) {
	if raw == nil {
		return 0, fmt.Errorf("%s is missing, want a number of tokens", name)
	}
	v, err := decimal(raw, 0)
	if errors.Is(err, errRange) {
		return 0, fmt.Errorf("%s is %s, want at most %d", name, quoteShort(raw), maxTokens)
	}
	if err != nil {
		return 0, fmt.Errorf("%s is %s, want a whole number of tokens", name, quoteShort(raw))
	}
	return int32(v), checkTokens(name, v, least)
}

// notes says what was inferred.
func (m *mooncake) notes() {
	if m.parts > 0 {
		m.in.meta.TimeResolution = Unknown
	}
	if rate := float64(m.rows) / time.Duration(m.last).Seconds(); m.rows >= 100 && rate > manyPerSecond {
		m.in.note("%d requests within %v: timestamps are read as milliseconds; are they seconds?", m.rows, time.Duration(m.last))
	}
	for _, key := range slices.Sorted(maps.Keys(m.ignored)) {
		m.in.note("%d of %d rows have %s, of which nothing is made", m.ignored[key], m.rows, key)
	}
	if m.blocks > 0 && m.in.o.BlockSize == 0 && !m.said {
		m.in.note("the file does not say how many tokens a hash id covers: %d, the format's usual size, fits every row", mooncakeBlock)
	}
}
