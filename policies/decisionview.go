package policies

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// logView is what a policy saw of the replicas, as JSON: their names, and a column a number. A column has one value a
// replica, or a single one if all are the same, and is absent if all are 0.
type logView struct {
	names   []string
	columns [][]byte // parallel to viewColumns, nil if absent
}

// viewColumn is one number of every replica.
type viewColumn struct {
	name  string
	write func(r *Request, v *View) []byte
	read  func(r *Request, v *View, data []byte) error
}

// viewColumns has a row for each number that a Pick may look at.
var viewColumns = []viewColumn{
	{"salts", writeSalts, perReplica("", salt).read}, // absent if each is that of its name
	perReplica("models", func(v *View, i int) *ID { return &v.Replicas[i].Model }),
	perReplica("caps", func(v *View, i int) *Caps { return &v.Replicas[i].Caps }),
	perReplica("cordoned", func(v *View, i int) *bool { return &v.Replicas[i].Cordoned }),
	{"max_adapters", writeSlots, perReplica("", slots).read},
	{"hot", writeHot, readHot},        // believed to have the request's adapter loaded
	{"in_use", writeInUse, readInUse}, // other adapters in use
	perReplica("have", func(v *View, i int) *Field { return &v.Replicas[i].Signals.Have }),
	perReplica("waiting", func(v *View, i int) *int32 { return &v.Replicas[i].Signals.Waiting }),
	perReplica("running", func(v *View, i int) *int32 { return &v.Replicas[i].Signals.Running }),
	perReplica("kv_used", func(v *View, i int) *float64 { return &v.Replicas[i].Signals.KVUsed }),
	perReplica("kv_tokens", func(v *View, i int) *int64 { return &v.Replicas[i].Signals.KVTokens }),
	perReplica("block_size", func(v *View, i int) *int32 { return &v.Replicas[i].Signals.BlockSize }),
	perReplica("sampled", func(v *View, i int) *time.Duration { return &v.Replicas[i].Signals.SampledAt }),
	{"routers", writeRouters, readRouters}, // absent for one
	perReplica("in_flight", func(v *View, i int) *int32 { return &v.Local[i].InFlight }),
	perReplica("pending", func(v *View, i int) *int32 { return &v.Local[i].Pending }),
	perReplica("uncached", func(v *View, i int) *int64 { return &v.Local[i].UncachedPrefill }),
	perReplica("held", func(v *View, i int) *int64 { return &v.Local[i].HeldTokens }),
	perReplica("sent", func(v *View, i int) *int32 { return &v.Local[i].SentSinceSample }),
	perReplica("sent_tokens", func(v *View, i int) *int64 { return &v.Local[i].SentTokens }),
	perReplica("in_sample", func(v *View, i int) *int32 { return &v.Local[i].InSample }),
	perReplica("waiting_in_sample", func(v *View, i int) *int32 { return &v.Local[i].WaitingInSample }),
	perReplica("prefill_rate", func(v *View, i int) *float32 { return &v.Local[i].PrefillRate }),
	perReplica("ttft", func(v *View, i int) *float64 { return &v.Local[i].TTFT }),
	perReplica("tpot", func(v *View, i int) *float64 { return &v.Local[i].TPOT }),
	perReplica("hits", func(v *View, i int) *int32 { return &v.Hits[i].Tokens }),
	perReplica("hits_held", func(v *View, i int) *int32 { return &v.Hits[i].Held }),
}

func perReplica[T comparable](name string, at func(v *View, i int) *T) viewColumn {
	return viewColumn{name,
		func(_ *Request, v *View) []byte {
			return writeColumn(len(v.Replicas), func(i int) T { return *at(v, i) })
		},
		func(_ *Request, v *View, data []byte) error {
			return readColumn(len(v.Replicas), data, func(i int, x T) { *at(v, i) = x })
		}}
}

func writeColumn[T comparable](n int, at func(i int) T) []byte {
	c := make([]T, n)
	equal := true
	for i := range c {
		c[i] = at(i)
		equal = equal && c[i] == c[0]
	}
	var zero T
	if n == 0 || equal && c[0] == zero {
		return nil
	}
	var what any = c
	if equal {
		what = c[0]
	}
	data, err := json.Marshal(what)
	if err != nil {
		return []byte("null") // NaN or infinite, which no column takes when it is read
	}
	return data
}

func readColumn[T any](n int, data []byte, set func(i int, x T)) error {
	if data[0] != '[' {
		var x T
		if err := readJSON(data, &x); err != nil {
			return err
		}
		for i := range n {
			set(i, x)
		}
		return nil
	}
	var c []T
	if err := readJSON(data, &c); err != nil {
		return err
	}
	if len(c) != n {
		return fmt.Errorf("%d values, want one for each of %d replicas", len(c), n)
	}
	for i, x := range c {
		set(i, x)
	}
	return nil
}

// readJSON is json.Unmarshal that takes no null.
func readJSON(data []byte, to any) error {
	if bytes.Contains(data, []byte("null")) {
		return fmt.Errorf("found %s, want no null", data)
	}
	return json.Unmarshal(data, to)
}

func salt(v *View, i int) *uint64 { return &v.Replicas[i].Salt }

func writeSalts(_ *Request, v *View) []byte {
	own := func(r Replica) bool { return r.Salt == Salt(r.Name) }
	if !slices.ContainsFunc(v.Replicas, func(r Replica) bool { return !own(r) }) {
		return nil
	}
	return writeColumn(len(v.Replicas), func(i int) uint64 { return *salt(v, i) })
}

func writeHot(r *Request, v *View) []byte {
	return writeColumn(len(v.Replicas), func(i int) bool {
		return r.Adapter != 0 && v.loaded(i, r.Adapter)
	})
}

func readHot(r *Request, v *View, data []byte) error {
	return readColumn(len(v.Replicas), data, func(i int, hot bool) {
		if hot {
			v.Replicas[i].Adapters = []ID{r.Adapter}
		}
	})
}

func slots(v *View, i int) *int32 { return &v.Replicas[i].Signals.MaxAdapters }

// writeSlots writes them for requests with an adapter: for others nobody looks.
func writeSlots(r *Request, v *View) []byte {
	if r.Adapter == 0 {
		return nil
	}
	return writeColumn(len(v.Replicas), func(i int) int32 { return *slots(v, i) })
}

// sentHere stands for the other adapters in use where an own request in flight has the request's adapter.
const sentHere = -1

// writeInUse leaves out what nobody looks at: the others where the adapter is hot, or the slots are unknown.
func writeInUse(r *Request, v *View) []byte {
	return writeColumn(len(v.Replicas), func(i int) int32 {
		rep := &v.Replicas[i]
		switch {
		case r.Adapter == 0:
			return 0
		case slices.Contains(v.inUse(i), r.Adapter):
			return sentHere
		case v.loaded(i, r.Adapter) || rep.Signals.MaxAdapters == 0:
			return 0
		}
		return othersInUse(rep, v.inUse(i), r.Adapter)
	})
}

// readInUse gives a replica as many adapters in use, of other names: a filter only counts them.
func readInUse(r *Request, v *View, data []byte) error {
	const most = 1 << 16
	var wrong error
	err := readColumn(len(v.Replicas), data, func(i int, n int32) {
		switch {
		case n == sentHere:
			v.InUse[i] = append(v.InUse[i], r.Adapter)
		case n < 0 || n > most:
			wrong = fmt.Errorf("found %d, want %d..%d", n, sentHere, most)
		}
		for k := range min(n, most) {
			v.InUse[i] = append(v.InUse[i], ID(-1-k))
		}
	})
	return cmp.Or(err, wrong)
}

func writeRouters(_ *Request, v *View) []byte {
	if v.Routers <= 1 {
		return nil
	}
	return strconv.AppendInt(nil, int64(v.Routers), 10)
}

func readRouters(_ *Request, v *View, data []byte) error { return readJSON(data, &v.Routers) }

func logViewOf(r *Request, v *View) logView {
	seen := *v
	if len(seen.Hits) < len(seen.Replicas) { // a policy without a belief may be given none
		seen.Hits = make([]Hit, len(seen.Replicas))
	}
	l := logView{names: make([]string, 0, len(v.Replicas))}
	for i := range v.Replicas {
		l.names = append(l.names, v.Replicas[i].Name)
	}
	for _, c := range viewColumns {
		l.columns = append(l.columns, c.write(r, &seen))
	}
	return l
}

// view makes the view again. Of adapters it has the request's, and stand-ins for others in use.
func (l *logView) view(now time.Duration, r *Request) (View, error) {
	n := len(l.names)
	v := View{Now: now, Replicas: make([]Replica, n), Local: make([]Local, n), InUse: make([][]ID, n), Hits: make([]Hit, n)}
	for i, name := range l.names {
		v.Replicas[i].Name, v.Replicas[i].Salt = name, Salt(name)
	}
	for i, data := range l.columns {
		if data == nil {
			continue
		}
		if err := viewColumns[i].read(r, &v, data); err != nil {
			return v, fmt.Errorf("view.%s: %w", viewColumns[i].name, err)
		}
	}
	return v, nil
}

// MarshalJSON writes the columns in the order of the table.
func (l logView) MarshalJSON() ([]byte, error) {
	names, err := json.Marshal(l.names)
	if err != nil {
		return nil, err
	}
	data := fmt.Appendf(nil, `{"names":%s`, names)
	for i, c := range l.columns {
		if c != nil {
			data = fmt.Appendf(data, `,%q:%s`, viewColumns[i].name, c)
		}
	}
	return append(data, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *logView) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	l.columns = make([][]byte, len(viewColumns))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if i := slices.IndexFunc(viewColumns, func(c viewColumn) bool { return c.name == name }); i >= 0 {
			l.columns[i] = members[name]
		} else if name != "names" {
			return fmt.Errorf("view has the unknown column %q", name)
		}
	}
	if err := json.Unmarshal(members["names"], &l.names); err != nil || l.names == nil {
		return fmt.Errorf("view.names is %.60q, want an array of names", members["names"])
	}
	return nil
}
