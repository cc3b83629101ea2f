package traces

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// maxLine bounds a line of a text format, bytes.
const maxLine = 1 << 26

var errLongLine = fmt.Errorf("the line is longer than %d bytes; want one request a line", maxLine)

// line is a line of a text file. Text is valid until the next one.
type line struct {
	number int64
	text   []byte
}

// lines yields the lines that are not blank, without line ends and byte order mark.
func (in *input) lines() iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		l := line{number: in.blank}
		for {
			text, err := in.line()
			if err != nil && err != io.EOF { // what there is of the line is less news than why it ends
				yield(l, in.errorf(l.number+1, "%w", err))
				return
			}
			l.number++
			in.place = l.number
			if l.text = text; l.number == 1 {
				l.text = bytes.TrimPrefix(text, bom)
			}
			if len(bytes.TrimSpace(l.text)) > 0 && !yield(l, nil) || err == io.EOF {
				return
			}
		}
	}
}

// line reads the next line, without its end, valid until the next call. Each byte is looked at once, however small the
// pieces in which a long line comes.
func (in *input) line() ([]byte, error) {
	text, err := in.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		in.long = append(in.long[:0], text...)
		for errors.Is(err, bufio.ErrBufferFull) {
			if text, err = in.r.ReadSlice('\n'); len(in.long)+len(text) > maxLine {
				return nil, errLongLine
			}
			in.long = append(in.long, text...)
		}
		text = in.long
	}
	text = bytes.TrimSuffix(text, []byte{'\n'})
	return bytes.TrimSuffix(text, []byte{'\r'}), err
}

// quoteShort prints a value of a file in an error.
func quoteShort(b []byte) string {
	const most = 40
	if len(b) > most {
		return fmt.Sprintf("%s...", b[:most])
	}
	return string(b)
}
