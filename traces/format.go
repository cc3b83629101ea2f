package traces

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"
)

// Format is a way to store a trace.
type Format struct {
	Name    string
	Doc     string   // one line
	Endings []string // usual ends of file names; only writers go by them

	detect func(head []byte) bool // on the first bytes of the content
	read   func(*input) iter.Seq2[Record, error]
	write  func(io.Writer, *Trace) error   // nil if the format is only read
	lost   func(*Trace) (columns []string) // what the format cannot hold; nil if it holds all
}

// formats has a row for each format. Detection asks in this order.
var formats = []Format{
	{
		Name: "parquet", Doc: "the project's own: every column, units and provenance; also outcome files",
		Endings: []string{".parquet"},
		detect:  detectParquet, read: readParquet, write: writeParquet,
	},
	{
		Name: "mooncake", Doc: "JSON lines with timestamp (ms), input_length, output_length, hash_ids",
		Endings: []string{".jsonl"},
		detect:  detectMooncake, read: readMooncake, write: writeMooncake, lost: lostInMooncake,
	},
	{
		Name: "azure", Doc: "CSV with TIMESTAMP, ContextTokens, GeneratedTokens (Azure LLM inference traces)",
		Endings: []string{".csv"},
		detect:  detectAzure, read: readAzure,
	},
}

// Formats returns the formats that can be read, in order of detection.
func Formats() []Format { return formats }

// Writable reports whether the format can be written.
func (f Format) Writable() bool { return f.write != nil }

func formatNames() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// byName finds a format.
func byName(name string) (*Format, error) {
	for i := range formats {
		if formats[i].Name == name {
			return &formats[i], nil
		}
	}
	return nil, fmt.Errorf("unknown trace format %q (have %s%s)", name, strings.Join(formatNames(), ", "), didYouMean(name, formatNames()))
}

// byContent finds the format of a file from the first bytes of its content.
func byContent(head []byte) (*Format, error) {
	for i := range formats {
		if formats[i].detect(head) {
			return &formats[i], nil
		}
	}
	return nil, fmt.Errorf("unknown trace format: it starts with %s, which is none of %s; if it is one of them, say which with --trace-format",
		excerpt(head), strings.Join(formatNames(), ", "))
}

var bom = []byte("\xef\xbb\xbf")

// excerpt quotes the start of a text.
func excerpt(b []byte) string {
	const most = 40
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	if len(line) > most {
		return fmt.Sprintf("%q...", line[:most])
	}
	return fmt.Sprintf("%q", bytes.TrimSuffix(line, []byte{'\r'}))
}

// Write writes a trace in a format.
func Write(format string, w io.Writer, t *Trace) error {
	f, err := byName(format)
	if err != nil {
		return err
	}
	if f.write == nil {
		return fmt.Errorf("format %s can be read but not written (%s can)", f.Name, strings.Join(writable(), ", "))
	}
	return f.write(w, t)
}

func writable() []string {
	var names []string
	for _, f := range formats {
		if f.write != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// FormatOf returns the format to write that a file name's ending stands for.
func FormatOf(name string) (string, error) {
	var endings []string
	for _, f := range formats {
		if f.write == nil {
			continue
		}
		for _, e := range f.Endings {
			if strings.HasSuffix(name, e) {
				return f.Name, nil
			}
			endings = append(endings, e)
		}
	}
	return "", fmt.Errorf("%s: no trace format to write has this ending (have %s)", name, strings.Join(endings, ", "))
}

// Lost names the columns of a trace that a format cannot hold.
func Lost(format string, t *Trace) []string {
	f, err := byName(format)
	if err != nil || f.lost == nil {
		return nil
	}
	return f.lost(t)
}
