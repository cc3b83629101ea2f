package traces

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// mooncakeRow is a line taken apart: numbers as written, nil if missing.
type mooncakeRow struct {
	timestamp, input, output []byte
	block                    []byte                // block_size, which traces of other tools do not have
	names                    [len(nameKeys)]string // "" if missing
	ids                      []int64
	hasIDs                   bool
	seen                     uint     // bit i: number key i; above those, the names
	ignored                  []string // keys that nothing is made of
}

// nameKeys are keys beyond Mooncake's own: names that requests may carry. session_id is that of NVIDIA aiperf's rows.
var nameKeys = [...]struct {
	key string
	at  func(*Record) *string
}{
	{"model", func(r *Record) *string { return &r.Model }},
	{"adapter", func(r *Record) *string { return &r.Adapter }},
	{"tenant", func(r *Record) *string { return &r.Tenant }},
	{"session_id", func(r *Record) *string { return &r.Session }},
	{"slo", func(r *Record) *string { return &r.SLO }},
	{"prefix_key", func(r *Record) *string { return &r.PrefixKey }},
}

// numberKeys are the keys with a number.
var numberKeys = [...]struct {
	key string
	at  func(*mooncakeRow) *[]byte
}{
	{"timestamp", func(row *mooncakeRow) *[]byte { return &row.timestamp }},
	{"input_length", func(row *mooncakeRow) *[]byte { return &row.input }},
	{"output_length", func(row *mooncakeRow) *[]byte { return &row.output }},
	{"block_size", func(row *mooncakeRow) *[]byte { return &row.block }},
}

// decode takes a line apart with encoding/json: any valid JSON object.
func (row *mooncakeRow) decode(text []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return badJSON(text, err)
	}
	if key := twice(text); key != "" {
		return fmt.Errorf("%s is given twice", key)
	}
	if err := misspelled(object); err != nil {
		return err
	}
	*row = mooncakeRow{ids: row.ids[:0], ignored: row.ignored[:0]}
	for _, n := range numberKeys {
		*n.at(row) = object[n.key]
		delete(object, n.key)
	}
	if err := row.decodeNames(object); err != nil {
		return err
	}
	raw, ok := object["hash_ids"]
	delete(object, "hash_ids")
	row.ignored = slices.Sorted(maps.Keys(object))
	if !ok {
		return nil
	}
	var ids []json.RawMessage
	if err := json.Unmarshal(raw, &ids); err != nil || ids == nil {
		return fmt.Errorf("hash_ids is %s, want a list of whole numbers", quoteShort(raw))
	}
	row.hasIDs = true
	for i, raw := range ids {
		id, err := blockID(string(raw))
		if err != nil {
			return fmt.Errorf("hash_ids[%d] is %s, want a whole number of 64 bits", i, quoteShort(raw))
		}
		row.ids = append(row.ids, id)
	}
	return nil
}

// decodeNames takes the names out of an object. A null is no name.
func (row *mooncakeRow) decodeNames(object map[string]json.RawMessage) error {
	for i, n := range nameKeys {
		raw := object[n.key]
		delete(object, n.key)
		if len(raw) == 0 {
			continue
		}
		if err := json.Unmarshal(raw, &row.names[i]); err != nil {
			if _, err := strconv.ParseFloat(string(raw), 64); err != nil {
				return fmt.Errorf("%s is %s, want a string", n.key, quoteShort(raw))
			}
			row.names[i] = string(raw) // sessions are often numbered
		}
	}
	return nil
}

// blockID reads an id, signed or not.
func blockID(s string) (int64, error) {
	if id, err := strconv.ParseInt(s, 10, 64); err == nil {
		return id, nil
	}
	id, err := strconv.ParseUint(s, 10, 64)
	return int64(id), err
}
