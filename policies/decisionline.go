package policies

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strconv"
	"time"
)

// logLine is a line of the decision log. Times are nanoseconds since the router began.
type logLine struct {
	At       time.Duration `json:"at"`
	Weights  string        `json:"weights"`
	Request  logRequest    `json:"request"`
	View     logView       `json:"view"`
	Decision logDecision   `json:"decision"`
}

func readLine(data []byte) (line logLine, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&line); err != nil {
		return line, err
	}
	if _, err := d.Token(); err != io.EOF {
		return line, errors.New("something follows the decision, want one a line")
	}
	return line, nil
}

// logRequest is a request. Of its blocks it has all tokens, and the hashes of the first 7 and the last: a hash names
// all before it, and Pick looks at none.
type logRequest struct {
	Key       uint64        `json:"key,string"`
	Model     ID            `json:"model,omitzero"`
	Adapter   ID            `json:"adapter,omitzero"`
	Tenant    ID            `json:"tenant,omitzero"`
	Session   uint64        `json:"session,string,omitzero"`
	Priority  int16         `json:"priority,omitzero"`
	Needs     Caps          `json:"needs,string,omitzero"`
	Prompt    int32         `json:"prompt"`
	EstOutput int32         `json:"est_output,omitzero"`
	MaxOutput int32         `json:"max_output,omitzero"`
	Unit      int32         `json:"block_tokens,omitzero"`
	Template  uint64        `json:"template,string,omitzero"`
	Arrived   time.Duration `json:"arrived,omitzero"`
	Deadline  time.Duration `json:"deadline,omitzero"`
	Blocks    [][2]int32    `json:"blocks,omitempty"` // runs of blocks: how many, of how many tokens
	Hashes    string        `json:"hashes,omitempty"` // 16 hexadecimal digits each
}

// loggedHashes is how many hashes of a request are logged.
const loggedHashes = 8

// logRequestOf logs the output that the policy expected of a request that tells none, or nobody without the policy's
// memory could decide the same.
func logRequestOf(r *Request, d *Decision) logRequest {
	l := logRequest{Key: r.Key, Model: r.Model, Adapter: r.Adapter, Tenant: r.Tenant, Session: r.Session, Priority: r.Priority,
		Needs: r.Needs, Prompt: r.PromptTokens, EstOutput: r.EstOutput, MaxOutput: r.MaxOutput, Unit: r.BlockTokens, Template: r.Template,
		Arrived: r.Arrived, Deadline: r.Deadline}
	if output(r) == 0 {
		l.EstOutput = d.Output
	}
	var hashes []byte
	for i, b := range r.Blocks {
		if n := len(l.Blocks); n > 0 && l.Blocks[n-1][1] == b.Tokens {
			l.Blocks[n-1][0]++
		} else {
			l.Blocks = append(l.Blocks, [2]int32{1, b.Tokens})
		}
		if i < loggedHashes-1 || i == len(r.Blocks)-1 {
			hashes = fmt.Appendf(hashes, "%016x", b.Hash)
		}
	}
	l.Hashes = string(hashes)
	return l
}

func (l *logRequest) request() (Request, error) {
	r := Request{Key: l.Key, Model: l.Model, Adapter: l.Adapter, Tenant: l.Tenant, Session: l.Session, Priority: l.Priority,
		Needs: l.Needs, PromptTokens: l.Prompt, EstOutput: l.EstOutput, MaxOutput: l.MaxOutput, BlockTokens: l.Unit, Template: l.Template,
		Arrived: l.Arrived, Deadline: l.Deadline}
	for i, run := range l.Blocks {
		if run[0] < 1 || run[0] > 1<<24 {
			return r, fmt.Errorf("request.blocks[%d]: %d blocks, want 1..%d", i, run[0], 1<<24)
		}
		for range run[0] {
			r.Blocks = append(r.Blocks, Block{Tokens: run[1]})
		}
	}
	hashes, err := hex.DecodeString(l.Hashes)
	want := min(len(r.Blocks), loggedHashes)
	if err != nil || len(hashes) != 8*want {
		return r, fmt.Errorf("request.hashes: %d digits, want 16 hexadecimal ones for each of %d blocks", len(l.Hashes), want)
	}
	for i := range want {
		at := i
		if i == want-1 {
			at = len(r.Blocks) - 1
		}
		for _, b := range hashes[8*i : 8*i+8] {
			r.Blocks[at].Hash = r.Blocks[at].Hash<<8 | uint64(b)
		}
	}
	return r, nil
}

// logDecision is what was decided and why.
type logDecision struct {
	Action   string             `json:"action"`
	Replica  string             `json:"replica,omitempty"`
	Score    *float64           `json:"score,omitempty"`
	Terms    map[string]float64 `json:"terms,omitempty"` // those other than 0, if they are finite
	RunnerUp string             `json:"runner_up,omitempty"`
	Margin   *float64           `json:"margin,omitempty"`
	Rejected map[string]int32   `json:"rejected,omitempty"` // by reason
}

func logDecisionOf(v *View, d *Decision) logDecision {
	l := logDecision{Action: d.Action.String(), Score: finite(d.Score), Margin: finite(d.Margin)}
	if d.Replica >= 0 {
		l.Replica = v.Replicas[d.Replica].Name
	}
	if d.RunnerUp >= 0 {
		l.RunnerUp = v.Replicas[d.RunnerUp].Name
	}
	for t, x := range d.Terms {
		if x != 0 && finite(x) != nil {
			set(&l.Terms, Term(t).String(), x)
		}
	}
	for r, n := range d.Rejected {
		if n != 0 {
			set(&l.Rejected, Reason(r).String(), n)
		}
	}
	return l
}

func set[T any](m *map[string]T, name string, x T) {
	if *m == nil {
		*m = map[string]T{}
	}
	(*m)[name] = x
}

// finite is nil for NaN and the infinities, which JSON has not.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// equal compares the pick, its score and what was filtered out.
func (l *logDecision) equal(m *logDecision) bool {
	return l.Action == m.Action && l.Replica == m.Replica && l.score() == m.score() && maps.Equal(l.Rejected, m.Rejected)
}

func (l *logDecision) score() string {
	if l.Score == nil {
		return "none"
	}
	return strconv.FormatFloat(*l.Score, 'g', -1, 64)
}

func (l logDecision) String() string {
	text := l.Action
	if l.Replica != "" {
		text += fmt.Sprintf(" to %q", l.Replica)
	}
	rejected, err := json.Marshal(l.Rejected)
	if err != nil {
		return text
	}
	return fmt.Sprintf("%s with score %s, rejected %s", text, l.score(), rejected)
}
