package traces

import (
	"bufio"
	"bytes"
	"fmt"
	"iter"
)

// maxLine bounds a line of a text format, bytes.
const maxLine = 1 << 28

// line is a line of a text file. Text is valid until the next one.
type line struct {
	number int64
	text   []byte
}

// lines yields the lines that are not blank, without line ends and byte order mark.
func (in *input) lines() iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		s := bufio.NewScanner(in.r)
		s.Buffer(make([]byte, 0, 1<<16), maxLine)
		l := line{}
		for s.Scan() {
			if s.Err() != nil { // the text ends in mid-line: the scanner gives what there is, but the cause is the news
				break
			}
			l.number++
			in.place = l.number
			l.text = s.Bytes()
			if l.number == 1 {
				l.text = bytes.TrimPrefix(l.text, bom)
			}
			if len(bytes.TrimSpace(l.text)) > 0 && !yield(l, nil) {
				return
			}
		}
		switch err := s.Err(); {
		case err == bufio.ErrTooLong:
			yield(l, in.errorf(l.number+1, "the line is longer than %d bytes", maxLine))
		case err != nil:
			yield(l, in.errorf(l.number+1, "%w", err))
		}
	}
}

// quoteShort prints a value of a file in an error.
func quoteShort(b []byte) string {
	const most = 40
	if len(b) > most {
		return fmt.Sprintf("%s...", b[:most])
	}
	return string(b)
}
