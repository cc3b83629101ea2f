package traces

import (
	"fmt"
	"strconv"
	"strings"
)

// WithAdapters returns a copy of the trace with the adapters of an overlay in place of its own; all else stays. The
// prefix forest is made anew, as requests with different adapters share nothing. What two of them would have shared if
// the trace had named no adapter is not in the trace: requests that it kept apart stay apart.
func (t *Trace) WithAdapters(a Adapters) (*Trace, error) {
	if err := a.Check(); err != nil {
		return nil, fmt.Errorf("adapters: %w", err)
	}
	b, draw := NewBuilder(t.Meta), newAdapterDraw(a)
	b.Grow(t.Len())
	named, alone := 0, 0
	for r := range t.Records() {
		if r.Adapter != "" {
			named++
		}
		if r.Session == "" {
			alone++
		}
		r.Adapter = draw.adapter(&r)
		if err := b.Add(r); err != nil {
			return nil, fmt.Errorf("%s: request of line %d: %w", t.Name, r.Line, err)
		}
	}
	out, err := b.Build()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	out.Name = t.Name
	out.Meta.Overlays = replaceOverlay(t.Meta.Overlays, "adapters", a.String())
	out.Notes = append(append([]string(nil), t.Notes...), a.doubts(named, alone, t.Len())...)
	return out, nil
}

// doubts are notes on a trace of n requests, of which some named an adapter and some are alone, without a session.
func (a Adapters) doubts(named, alone, n int) []string {
	var notes []string
	if named > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d requests named an adapter: %s is in place of that", named, n, a))
	}
	if alone > 0 && (a.Kind != "identical" || a.Base > 0 && a.Base < 1) {
		notes = append(notes, fmt.Sprintf("%d of %d requests name no session, and %s draws for each by itself: turns of a conversation with different adapters share no prefix",
			alone, n, a))
	}
	return notes
}

// adapterDraw hands out adapters.
type adapterDraw struct {
	Adapters
	start   uint64    // of every hash
	popular []float64 // cumulated popularity
	names   []string
}

func newAdapterDraw(a Adapters) *adapterDraw {
	d := &adapterDraw{Adapters: a, start: hashString(mix(a.Seed), "adapters")}
	if a.Kind != "zipf" {
		return d
	}
	d.popular = zipf(a.N, a.S)
	for k := range a.N {
		d.names = append(d.names, fmt.Sprintf("lora-%0*d", len(strconv.Itoa(a.N)), k+1))
	}
	return d
}

// adapter returns the adapter of a request's session, "" for the base model. Which sessions ask for the base model and
// which adapter the others have are two draws, so that another share leaves the adapters as they are.
func (d *adapterDraw) adapter(r *Record) string {
	who := sessionKey(r)
	h := hashString(d.start, who)
	if unit(mix(h^1)) < d.Base {
		return ""
	}
	switch d.Kind {
	case "zipf":
		return d.names[rank(d.popular, unit(mix(h^2)))]
	case "identical":
		return "lora"
	}
	return "lora-" + who
}

// sessionKey names the session of a request, or the request itself where it has none: by its id, or by its line in the
// source, which does not change when other lines are left out or the rows are sorted.
func sessionKey(r *Record) string {
	switch {
	case r.Session != "":
		return "session-" + r.Session
	case r.ID != "":
		return "request-" + r.ID
	}
	return "line-" + strconv.FormatInt(r.Line, 10)
}

// replaceOverlay sets one of the overlays in "name=spec;name=spec".
func replaceOverlay(overlays, name, spec string) string {
	var kept []string
	for o := range strings.SplitSeq(overlays, ";") {
		if o != "" && !strings.HasPrefix(o, name+"=") {
			kept = append(kept, o)
		}
	}
	return strings.Join(append(kept, name+"="+spec), ";")
}
