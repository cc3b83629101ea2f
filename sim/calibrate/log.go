package calibrate

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/traces"
)

// Log is what was measured: requests in order of arrival, or steps in the order of the file.
type Log struct {
	Name     string
	SHA256   string
	Requests []Request
	Steps    []Step
	Notes    []string // what was inferred or left out

	window   int  // requests that a driver held in flight at most, 0 if it did not mind
	identity bool // some prompts are known to share something
	hits     int  // requests that the server found in its cache

	arrivals []float64 // s, by request as read
	policy   string    // of the first outcome
	others   int       // rows that are not about it, or not about the replicas wanted
	failed   int

	of        [3]string // model, GPU and tp of the first step
	prompts   [][]int64 // of the trace, by row
	sessions  []string  // likewise
	blockSize int32     // tokens behind a block of the log, 0 if it does not say
}

// Request is a request of a log.
type Request struct {
	At      engine.Time // since the first one's arrival
	Prompt  int32       // tokens
	Output  int32       // tokens
	TTFT    float64     // measured, s; NaN if the request failed
	E2E     float64     // likewise
	Replica string      // "" if the log does not say
	Line    int64       // of the log

	id      string  // prompts with the same are the same; "" if the prompt is unique
	session string  // "" if the log does not say; its requests are turns, each of which goes on from the one before
	blocks  []int64 // identity by blocks, nil if there is none
	gated   bool    // the driver held it back until another finished
}

// TPOT is the time for each output token after the first, NaN if there is none.
func (r *Request) TPOT() float64 { return tpot(r.TTFT, r.E2E, r.Output) }

func tpot(ttft, e2e float64, output int32) float64 {
	if output < 2 {
		return math.NaN()
	}
	return (e2e - ttft) / float64(output-1)
}

// Step is a measured step.
type Step struct {
	engine.Batch
	Seconds float64
	Line    int64
}

// ReadOptions say how to read a log.
type ReadOptions struct {
	BlockSize int // tokens behind one hash id
	Policy    string
	Trace     *traces.Trace // whose rows the log names: it says which prompts are alike; nil: none
	Only      Only          // steps of these replicas, where the file says whose they are
}

// Only names what steps are about; "" and 0 are any.
type Only struct {
	Model, GPU string
	TP         int
}

// Open reads a log: CSV, JSON lines or Parquet of requests, the JSON of vllm bench serve, or CSV of steps. Files may be
// packed with gzip or zstd.
func Open(name string, o ReadOptions) (*Log, error) {
	data, err := readAll(name)
	if err != nil {
		return nil, err
	}
	return Read(filepath.Base(name), data, o)
}

func readAll(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	data, err := os.ReadFile(name)
	var p *os.PathError
	if errors.As(err, &p) {
		return nil, fmt.Errorf("%s: %w", name, p.Err)
	}
	return data, err
}

// Read reads a log from memory. Errors start with the name and, where there is one, the line.
func Read(name string, data []byte, o ReadOptions) (*Log, error) {
	l := &Log{Name: name, SHA256: fmt.Sprintf("%x", sha256.Sum256(data))}
	if o.Trace != nil {
		l.follow(o.Trace)
	}
	data, err := unpack(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch text := bytes.TrimLeft(data, " \t\r\n"); {
	case len(text) == 0:
		return nil, fmt.Errorf("%s: the file is empty, want a log", name)
	case bytes.HasPrefix(data, []byte("PAR1")):
		err = l.readParquet(data, o)
	case text[0] == '{' && isBench(text):
		err = l.readBench(text)
	case text[0] == '{':
		err = l.readLines(data, o)
	default:
		err = l.readCSV(data, o)
	}
	if err != nil {
		return nil, err
	}
	return l, l.finish()
}

// mostUnpacked bounds a packed log.
const mostUnpacked = 8 << 30

func unpack(data []byte) ([]byte, error) {
	var r io.Reader
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		r = z
	case bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	default:
		return data, nil
	}
	out, err := io.ReadAll(io.LimitReader(r, mostUnpacked))
	if err == nil && len(out) == mostUnpacked {
		err = fmt.Errorf("unpacks to %d bytes or more, want less", int64(mostUnpacked))
	}
	return out, err
}

func (l *Log) note(format string, args ...any) {
	l.Notes = append(l.Notes, fmt.Sprintf(format, args...))
}

// follow takes the prompts' identity from the trace that was replayed.
func (l *Log) follow(t *traces.Trace) {
	l.blockSize = t.Meta.BlockSize
	for r := range t.Records() {
		l.prompts, l.sessions = append(l.prompts, r.Blocks), append(l.sessions, r.Session)
	}
}
