package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// JSON writes the description as one document.
func (t TraceInfo) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(t)
}

// Text writes the description for a terminal.
func (t TraceInfo) Text(w io.Writer) error {
	var b strings.Builder
	for _, l := range t.lines() {
		wrap(&b, fmt.Sprintf("%-9s", l.name), l.text)
	}
	b.WriteByte('\n')
	b.WriteString(plain(t.tokens()).Render())
	b.WriteByte('\n')
	if len(t.Warnings) > 0 {
		b.WriteString("\nwarnings\n")
	}
	for _, text := range t.Warnings {
		wrap(&b, "  ! ", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t TraceInfo) lines() []line {
	lines := []line{
		{"trace", t.Name + " (" + t.Format + ")"},
		{"digest", t.Digest},
		{"requests", fmt.Sprintf("%s in %s", group(int64(t.Requests)), duration(float64(t.SpanS)))},
		{"rate", t.Rate.text()},
		{"ties", t.Ties.text(t.Requests)},
		{"identity", t.Identity.text(t.Requests)},
		{"sharing", t.Identity.sharing()},
	}
	if t.Adapters.Count > 0 {
		lines = append(lines, line{"adapters", t.Adapters.text()})
	}
	return append(lines, line{"memory", fmt.Sprintf("%s kB", group((t.MemoryBytes+999)/1000))})
}

func (a AdapterInfo) text() string {
	text := fmt.Sprintf("%s; %s of requests are for %s, the most, and %s for the base model", group(int64(a.Count)),
		percent(float64(a.TopShare)), a.Top, percent(float64(a.BaseShare)))
	if a.Overlay != "" {
		text += "; drawn by " + a.Overlay
	}
	return text
}

func (r RateInfo) text() string {
	text := significant(float64(r.Mean)) + "/s mean"
	if known(float64(r.Peak1)) {
		text += "; peak " + significant(float64(r.Peak1)) + "/s over 1 s"
	}
	if known(float64(r.Peak60)) {
		text += ", " + significant(float64(r.Peak60)) + "/s over 60 s"
	}
	return text
}

func (t TieInfo) text(requests int) string {
	if t.Requests == 0 {
		return "none"
	}
	return fmt.Sprintf("%s (%s) share their instant with another; %s at one at most", count(t.Requests, "request"),
		percent(float64(t.Requests)/float64(requests)), group(int64(t.Largest)))
}

func (id Identity) text(requests int) string {
	if id.Known == 0 {
		return "unknown: hits and affinity cannot be computed"
	}
	return fmt.Sprintf("%s of %s requests; blocks of %d tokens, tail %s", group(int64(id.Known)), group(int64(requests)),
		id.BlockSize, id.BlockTail)
}

func (id Identity) sharing() string {
	if id.Known == 0 {
		return "unknown"
	}
	return fmt.Sprintf("an endless cache would serve %s of prompt tokens; %s, the largest with %s of requests",
		percent(float64(id.HitRatio)), count(id.Groups, "different first block"), percent(float64(id.TopShare)))
}

func (t TraceInfo) tokens() table.Writer {
	w := table.NewWriter()
	w.AppendHeader(table.Row{"tokens", "known", "total", "mean", "p50", "p90", "p99", "max"})
	for _, r := range []struct {
		name string
		s    Spread
	}{{"prompt", t.Prompt}, {"output", t.Output}} {
		w.AppendRow(table.Row{r.name, group(int64(r.s.Known)), group(r.s.Total), significant(float64(r.s.Mean)),
			significant(float64(r.s.P50)), significant(float64(r.s.P90)), significant(float64(r.s.P99)), significant(float64(r.s.Max))})
	}
	alignRight(w, 7)
	return w
}
