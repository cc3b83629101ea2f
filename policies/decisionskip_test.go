package policies

import (
	"bytes"
	"strings"
	"testing"
)

// A decision that has no line in JSON is missing from the log, which tells and goes on.
func TestDecisionLogSkips(t *testing.T) {
	columns := viewColumns
	defer func() { viewColumns = columns }()
	broken := viewColumn{name: "broken", write: func(r *Request, _ *View) []byte {
		if r.Key == 1 {
			return []byte("[")
		}
		return nil
	}}
	viewColumns = append(columns[:len(columns):len(columns)], broken)
	var b bytes.Buffer
	log := NewDecisionLog(&b)
	for key := range uint64(3) {
		log.Write(&Request{Key: key}, &View{}, &Decision{Replica: -1, RunnerUp: -1}, "")
	}
	if got := b.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"key":"2"`) || log.Err() == nil {
		t.Errorf("error %v and the log\n%s\nwant an error and the decisions on the requests 0 and 2", log.Err(), got)
	}
}
