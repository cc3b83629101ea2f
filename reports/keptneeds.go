package reports

import (
	"encoding/json"
	"fmt"
	"strings"
)

// What gates and comparisons read of a result must be in it: a member that is missing would read as 0, which passes many a
// gate. A number that is not known is null.
var (
	traceNeeds  = []string{"requests", "digest", "span_s?"}
	runNeeds    = []string{"policy", "completed", "rejected.total", "preemptions", "gateway.held", "hit_ratio?", "imbalance?", "output_tokens_per_s?", "requests_per_s?", "makespan_s?"}
	timesNeeded = []string{"ttft_s", "tpot_s", "e2e_s", "gateway.wait_s"}
	ofTimes     = []string{"mean?", "p50?", "p90?", "p95?", "p99?", "max?"} // with ? it may be null
)

// lacking names the first member that a result lacks and what is wanted, "" if it is whole.
func lacking(data []byte) string {
	var doc struct {
		Trace any   `json:"trace"`
		Runs  []any `json:"runs"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return "" // told where the document is read
	}
	if lack := lackingOf(doc.Trace, "trace", traceNeeds); lack != "" {
		return lack
	}
	for i, r := range doc.Runs {
		name := fmt.Sprintf("runs[%d]", i)
		if lack := lackingOf(r, name, runNeeds); lack != "" {
			return lack
		}
		for _, times := range timesNeeded {
			if lack := lackingOf(member(r, times), name+"."+times, ofTimes); lack != "" {
				return lack
			}
		}
	}
	return ""
}

func lackingOf(v any, name string, needs []string) string {
	for _, path := range needs {
		path, optional := strings.CutSuffix(path, "?")
		switch found := member(v, path); {
		case found == absent:
			return fmt.Sprintf("%s.%s is missing", name, path)
		case !optional && (found == nil || found == ""):
			return fmt.Sprintf("%s.%s is empty, want its value", name, path)
		}
	}
	return ""
}

// absent is what member returns for a member that is not there, unlike null.
var absent any = struct{ absent bool }{true}

// member follows a dotted path through objects.
func member(v any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return absent
		}
		if v, ok = object[part]; !ok {
			return absent
		}
	}
	return v
}
