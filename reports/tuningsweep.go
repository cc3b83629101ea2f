package reports

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/seed-2cee110a/triage/sim/tune"
)

// sweepColumn is a column of the sweep: a row a point and trace that was replayed. A value is a string, an int64, a
// float64, or nil if it is not known.
type sweepColumn struct {
	name  string
	kind  any // a value of the column's type
	value func(t *Tuning, point, trace int) any
}

// sweepColumns are the same for CSV and Parquet. Numbers of a knob are numbers, durations are seconds.
func sweepColumns(t *Tuning) []sweepColumn {
	cols := []sweepColumn{
		{"point", int64(0), func(_ *Tuning, p, _ int) any { return int64(p) }},
		{"trace", "", func(t *Tuning, _, c int) any { return t.Study.Cases[c].Name }},
	}
	for i, a := range t.Study.Space.Axes {
		cols = append(cols, knobColumn(i, a))
	}
	cols = append(cols,
		sweepColumn{"class", int64(0), func(t *Tuning, p, _ int) any {
			if c := t.Study.Class[p]; c >= 0 {
				return int64(c)
			}
			return nil
		}},
		sweepColumn{"status", "", func(t *Tuning, p, _ int) any { return t.status(p) }},
		sweepColumn{"objective", 0.0, func(t *Tuning, p, c int) any { return t.Study.Points[p][c].Value }},
		sweepColumn{"regret", 0.0, func(t *Tuning, p, c int) any { return t.sweepRegret(p, c) }})
	for i, name := range tune.MetricNames() {
		cols = append(cols, sweepColumn{name, 0.0, func(t *Tuning, p, c int) any { return t.Study.Points[p][c].Metrics[i] }})
	}
	return cols
}

// status says what became of a point.
func (t *Tuning) status(point int) string {
	s := t.Study
	_, refuses := slices.BinarySearch(s.Refusing, point)
	switch {
	case s.Class[point] < 0:
		return "partial"
	case s.Competes(point):
		return "full"
	case refuses:
		return "refuses"
	}
	return "valueless"
}

// sweepRegret is not known for a point that refuses too much: its value is over other requests.
func (t *Tuning) sweepRegret(point, trace int) any {
	if t.status(point) == "refuses" {
		return nil
	}
	return t.Study.Regret(t.Study.Points[point][trace], trace)
}

// knobColumn is the column of an axis.
func knobColumn(i int, a tune.Axis) sweepColumn {
	if a.Numbers == nil {
		return sweepColumn{a.Knob, "", func(t *Tuning, p, _ int) any { return t.Study.Space.Values(p)[i] }}
	}
	name := a.Knob
	if _, err := strconv.ParseFloat(a.Values[0], 64); err != nil {
		if _, err := time.ParseDuration(a.Values[0]); err == nil {
			name += "_s"
		}
	}
	return sweepColumn{name, 0.0, func(t *Tuning, p, _ int) any {
		s := t.Study.Space
		return s.Axes[i].Numbers[s.Indices(p)[i]]
	}}
}

// sweep calls f with the values of every row, by point, then trace. The slice is valid during the call.
func sweep(t *Tuning, f func(values []any) error) error {
	cols := sweepColumns(t)
	values := make([]any, len(cols))
	for p, cells := range t.Study.Points {
		for trace, c := range cells {
			if !c.Done {
				continue
			}
			for i, col := range cols {
				values[i] = col.value(t, p, trace)
				if v, ok := values[i].(float64); ok && (math.IsNaN(v) || math.IsInf(v, 0)) {
					values[i] = nil
				}
			}
			if err := f(values); err != nil {
				return err
			}
		}
	}
	return nil
}

// TuningCSV writes a row a point and trace. A cell is empty where a value is not known.
func TuningCSV(w io.Writer, t *Tuning) error {
	out := csv.NewWriter(w)
	var record []string
	for _, col := range sweepColumns(t) {
		record = append(record, col.name)
	}
	if err := out.Write(record); err != nil {
		return err
	}
	err := sweep(t, func(values []any) error {
		for i, v := range values {
			record[i] = ""
			if x, ok := v.(float64); ok {
				record[i] = csvFloat(x)
			} else if v != nil {
				record[i] = fmt.Sprint(v)
			}
		}
		return out.Write(record)
	})
	if err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// TuningParquet writes the same rows as a Parquet file; a value that is not known is null.
func TuningParquet(w io.Writer, t *Tuning) error {
	out := parquet.NewWriter(w, sweepSchema(sweepColumns(t)), parquet.Compression(&zstd.Codec{}))
	rows := make([]parquet.Row, 1)
	err := sweep(t, func(values []any) error {
		rows[0] = rows[0][:0]
		for i, v := range values {
			defined := 1
			if v == nil {
				defined = 0
			}
			rows[0] = append(rows[0], parquet.ValueOf(v).Level(0, defined, i))
		}
		_, err := out.WriteRows(rows)
		return err
	})
	if err != nil {
		return err
	}
	return out.Close()
}

// sweepSchema makes every column optional. It comes from a struct type because a parquet.Group would sort the columns.
func sweepSchema(cols []sweepColumn) *parquet.Schema {
	var fields []reflect.StructField
	for i, col := range cols {
		tag := col.name + ",optional"
		if _, ok := col.kind.(string); ok {
			tag += ",dict"
		}
		fields = append(fields, reflect.StructField{Name: "F" + strconv.Itoa(i), Type: reflect.TypeOf(col.kind),
			Tag: reflect.StructTag(`parquet:"` + tag + `"`)})
	}
	return parquet.NewSchema("sweep", parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface()))
}
