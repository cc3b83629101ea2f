package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// longestConfig bounds a config.json, bytes. Those of published models have a few KB.
const longestConfig = 4 << 20

// fields are the fields of a config.json: those of its text_config, if it has one, before those around it. The first
// error stays; what is read after it is zero.
type fields struct {
	file         string
	inner, outer map[string]json.RawMessage
	err          error
}

func newFields(file string, r io.Reader) (*fields, error) {
	data, err := io.ReadAll(io.LimitReader(r, longestConfig+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(data) > longestConfig {
		return nil, fmt.Errorf("%s: more than %d MB, want a model's config.json", file, longestConfig>>20)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors begin a file with the byte order mark
	f := &fields{file: file}
	if err := json.Unmarshal(data, &f.outer); err != nil || f.outer == nil {
		return nil, fmt.Errorf("%s: not a JSON object (%v), want a model's config.json", file, reason(err))
	}
	if f.has("text_config") {
		f.decode("text_config", &f.inner, "an object")
	}
	return f, f.err
}

func reason(err error) string {
	if err == nil {
		return "null"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// raw returns a field and where it is, nil if it is missing or null.
func (f *fields) raw(name string) (value json.RawMessage, at string) {
	if v := f.inner[name]; v != nil && string(v) != "null" {
		return v, "text_config." + name
	}
	if v := f.outer[name]; v != nil && string(v) != "null" {
		return v, name
	}
	return nil, name
}

func (f *fields) has(name string) bool {
	v, _ := f.raw(name)
	return v != nil
}

// says is true of a field that is there and not null, 0, false or empty.
func (f *fields) says(name string) bool {
	v, _ := f.raw(name)
	switch string(bytes.Join(bytes.Fields(v), nil)) {
	case "", "0", "false", `""`, "[]", "{}":
		return false
	}
	return true
}

// fail keeps the first error, about the field called name.
func (f *fields) fail(name, format string, args ...any) {
	if f.err != nil {
		return
	}
	_, at := f.raw(name)
	f.err = fmt.Errorf("%s: %s %s", f.file, at, fmt.Sprintf(format, args...))
}

func (f *fields) decode(name string, into any, want string) {
	v, _ := f.raw(name)
	if f.err == nil && json.Unmarshal(v, into) != nil {
		f.fail(name, "is %s, want %s", cut(v), want)
	}
}

// cut is a value short enough for an error.
func cut(v []byte) string {
	const most = 40
	if v = bytes.Join(bytes.Fields(v), []byte(" ")); len(v) > most {
		return string(v[:most]) + "..."
	}
	return string(v)
}

// limits keep products of fields within 64 bits. Other fields go up to limitElse.
var limits = map[string]int{
	"num_hidden_layers":       1024,
	"num_attention_heads":     4096,
	"hidden_size":             1 << 17,
	"vocab_size":              1 << 24,
	"max_position_embeddings": 1 << 30,
	"sliding_window":          1 << 30,
	"num_local_experts":       4096,
	"num_experts":             4096,
	"n_routed_experts":        4096,
	"n_shared_experts":        64,
	"head_dim":                1 << 14,
	"qk_nope_head_dim":        1 << 14,
	"qk_rope_head_dim":        1 << 14,
	"v_head_dim":              1 << 14,
	"kv_lora_rank":            1 << 17,
	"q_lora_rank":             1 << 17,
}

const limitElse = 1 << 20

// whole reads a field that must be there, at least 1.
func (f *fields) whole(name string) int {
	if f.err == nil && !f.has(name) {
		f.fail(name, "is missing, want a whole number")
	}
	return f.number(name, 1)
}

// wholeOr reads a field that may be missing.
func (f *fields) wholeOr(name string, otherwise int) int {
	if !f.has(name) {
		return otherwise
	}
	return f.number(name, 1)
}

// countOf reads a field that may be missing or 0.
func (f *fields) countOf(name string) int {
	if !f.has(name) {
		return 0
	}
	return f.number(name, 0)
}

func (f *fields) number(name string, least int) int {
	most, ok := limits[name]
	if !ok {
		most = limitElse
	}
	n := 0
	want := fmt.Sprintf("a whole number of %d to %d", least, most)
	f.decode(name, &n, want)
	if f.err == nil && (n < least || n > most) {
		f.fail(name, "is %d, want %s", n, want)
	}
	if f.err != nil {
		return 0
	}
	return n
}

func (f *fields) flag(name string, otherwise bool) bool {
	if f.has(name) {
		f.decode(name, &otherwise, "true or false")
	}
	return otherwise
}

// text reads a field that may be missing.
func (f *fields) text(name string) string {
	s := ""
	if f.has(name) {
		f.decode(name, &s, "a text")
	}
	return s
}

func (f *fields) modelType() string { return f.text("model_type") }
