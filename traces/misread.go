package traces

import (
	"bytes"
	"errors"
)

// misread is content that is no trace, but that one knows and can say what to do about.
var misread = []struct {
	found func(head []byte) bool
	err   error
}{
	{textOutcomes, errors.New("this is a file of outcomes; only outcomes written as .parquet can be replayed")},
	{jsonArray, errors.New("the file is a JSON array, want one JSON object a line (jq -c '.[]' makes that of it)")},
	{prettyObject, errors.New("the first line is only a brace, want one JSON object a line (jq -c . makes that of it)")},
}

// checkHead says what the content is if it is known to be no trace.
func checkHead(head []byte) error {
	for _, m := range misread {
		if m.found(head) {
			return m.err
		}
	}
	return nil
}

// textOutcomes looks for the first columns of an outcome file, as CSV or JSON lines.
func textOutcomes(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	if bytes.HasPrefix(line, []byte("row,policy,arrival_s,")) {
		return true
	}
	return bytes.HasPrefix(line, []byte(`{"row":`)) && bytes.Contains(line, []byte(`,"policy":`)) && bytes.Contains(line, []byte(`,"arrival_s":`))
}

// jsonArray looks for a list of objects.
func jsonArray(head []byte) bool {
	inside, ok := bytes.CutPrefix(bytes.TrimSpace(head), []byte{'['})
	return ok && bytes.HasPrefix(bytes.TrimSpace(inside), []byte{'{'})
}

// prettyObject looks for an object over several lines.
func prettyObject(head []byte) bool {
	line, rest, _ := bytes.Cut(bytes.TrimSpace(head), []byte{'\n'})
	return bytes.Equal(bytes.TrimSpace(line), []byte{'{'}) && len(rest) > 0
}
