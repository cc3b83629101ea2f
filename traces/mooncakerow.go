package traces

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// mooncakeRow is a line taken apart: numbers as written, nil if missing.
type mooncakeRow struct {
	timestamp, input, output []byte
	block                    []byte // block_size, which traces of other tools do not have
	ids                      []int64
	hasIDs                   bool
}

// decode takes a line apart with encoding/json: any valid JSON object.
func (row *mooncakeRow) decode(text []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return fmt.Errorf("the line is %s, want a JSON object: %w", excerpt(text), err)
	}
	*row = mooncakeRow{timestamp: object["timestamp"], input: object["input_length"], output: object["output_length"],
		block: object["block_size"], ids: row.ids[:0]}
	raw, ok := object["hash_ids"]
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

// blockID reads an id, signed or not.
func blockID(s string) (int64, error) {
	if id, err := strconv.ParseInt(s, 10, 64); err == nil {
		return id, nil
	}
	id, err := strconv.ParseUint(s, 10, 64)
	return int64(id), err
}
