package traces

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// pairs returns the metadata as stored.
func (m Meta) pairs() [][2]string {
	return [][2]string{
		{"schema", schemaName + strconv.Itoa(schemaMajor)},
		{"t0_unix_ns", orUnknown(m.T0UnixNs)},
		{"time_unit_source", cmp.Or(m.TimeUnitSource, "ns")},
		{"time_resolution_ns", orUnknown(m.TimeResolution)},
		{"ties", cmp.Or(m.Ties, "keep")},
		{"block_size", strconv.Itoa(int(m.BlockSize))},
		{"block_tail", cmp.Or(string(m.BlockTail), string(TailNone))},
		{"identity_scope", cmp.Or(m.IdentityScope, "global")},
		{"identity_kind", cmp.Or(m.IdentityKind, "none")},
		{"tokenizer", cmp.Or(m.Tokenizer, "unknown")},
		{"source_format", cmp.Or(m.SourceFormat, "unknown")},
		{"source_sha256", cmp.Or(m.SourceSHA256, "unknown")},
		{"importer_version", importer},
		{"rows_in", strconv.FormatInt(m.RowsIn, 10)},
		{"rows_dropped", strconv.FormatInt(m.RowsDropped, 10)},
		{"drop_reasons", m.DropReasons},
		{"anonymised", cmp.Or(m.Anonymised, "none")},
		{"overlays", m.Overlays},
	}
}

func orUnknown(v int64) string {
	if v == Unknown {
		return "unknown"
	}
	return strconv.FormatInt(v, 10)
}

// coverage says which share of the rows has what not every source has.
func coverage(t *Trace) string {
	identified, ttft := 0, 0
	for row := range t.Len() {
		if t.Identified(row) {
			identified++
		}
		if t.extra.ttft.at(row) != Unknown {
			ttft++
		}
	}
	n := float64(t.Len())
	output := t.Len() - countEqual(t.Output, Unknown)
	return fmt.Sprintf("output=%.4f,ttft=%.4f,identity=%.4f", float64(output)/n, float64(ttft)/n, float64(identified)/n)
}

// parseMeta reads the metadata with a look-up by key.
func parseMeta(lookup func(key string) (string, bool)) (Meta, error) {
	schema, ok := lookup("schema")
	if !ok {
		return Meta{}, fmt.Errorf("the file has no key \"schema\", want %s%d: it is no trace of this project", schemaName, schemaMajor)
	}
	if err := checkSchema(schema); err != nil {
		return Meta{}, err
	}
	text := func(key string) string { v, _ := lookup(key); return v }
	p := metaParser{lookup: lookup}
	m := Meta{
		SourceFormat:   notUnknown(text("source_format")),
		SourceSHA256:   notUnknown(text("source_sha256")),
		T0UnixNs:       p.number("t0_unix_ns", Unknown),
		TimeUnitSource: text("time_unit_source"),
		TimeResolution: p.number("time_resolution_ns", Unknown),
		Ties:           text("ties"),
		BlockSize:      int32(p.between("block_size", 0, 1<<20)),
		BlockTail:      BlockTail(p.oneOf("block_tail", string(TailCeil), string(TailFloor), string(TailNone))),
		IdentityScope:  p.oneOf("identity_scope", "global", "tenant", "session"),
		IdentityKind:   text("identity_kind"),
		Tokenizer:      text("tokenizer"),
		RowsIn:         p.number("rows_in", 0),
		RowsDropped:    p.number("rows_dropped", 0),
		DropReasons:    text("drop_reasons"),
		Anonymised:     text("anonymised"),
		Overlays:       text("overlays"),
	}
	return m, p.err
}

func checkSchema(schema string) error {
	version, ok := strings.CutPrefix(schema, schemaName)
	text, _, _ := strings.Cut(version, ".")
	major, err := strconv.Atoi(text)
	switch {
	case !ok || err != nil || major < 1:
		return fmt.Errorf("schema is %q, want %s%d", schema, schemaName, schemaMajor)
	case major > schemaMajor:
		return fmt.Errorf("schema is %q, written by a newer version: this one reads up to %s%d", schema, schemaName, schemaMajor)
	}
	return nil
}

func notUnknown(s string) string {
	if s == "unknown" {
		return ""
	}
	return s
}

// metaParser reads values and keeps the first error.
type metaParser struct {
	lookup func(string) (string, bool)
	err    error
}

func (p *metaParser) fail(key, v, want string) {
	if p.err == nil {
		p.err = fmt.Errorf("key %q is %q, want %s", key, v, want)
	}
}

func (p *metaParser) number(key string, missing int64) int64 {
	s, ok := p.lookup(key)
	if !ok || s == "unknown" || s == "" {
		return missing
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		p.fail(key, s, "a whole number or unknown")
	}
	return v
}

func (p *metaParser) between(key string, lo, hi int64) int64 {
	v := p.number(key, 0)
	if v < lo || v > hi {
		p.fail(key, strconv.FormatInt(v, 10), fmt.Sprintf("%d to %d", lo, hi))
	}
	return v
}

func (p *metaParser) oneOf(key string, values ...string) string {
	s, ok := p.lookup(key)
	if !ok {
		return ""
	}
	for _, v := range values {
		if s == v {
			return s
		}
	}
	p.fail(key, s, strings.Join(values, ", "))
	return ""
}
