package reports

import (
	"encoding/json"
	"fmt"
	"slices"
)

// differing lists what two results do not have in common, but for their numbers: "cluster.replicas: 8, then 16".
func differing(a, b *Kept) []string {
	var out []string
	if x, y := a.doc.Trace, b.doc.Trace; x.Digest != y.Digest {
		out = append(out, fmt.Sprintf("trace: %s (%s, %s), then %s (%s, %s)", x.Name, count(x.Requests, "request"), short(x.Digest),
			y.Name, count(y.Requests, "request"), short(y.Digest)))
	}
	for _, part := range []struct {
		name string
		a, b any
	}{
		{"cluster", a.doc.Cluster, b.doc.Cluster},
		{"signals", a.doc.Signals.Mode, b.doc.Signals.Mode},
		{"cost", a.doc.Cost.Model, b.doc.Cost.Model},
		{"cost.digest", a.doc.Cost.Digest, b.doc.Cost.Digest},
	} {
		x, y := map[string]string{}, map[string]string{}
		flatten(x, part.name, tree(part.a))
		flatten(y, part.name, tree(part.b))
		out = append(out, unequal(x, y)...)
	}
	return out
}

// tree is a value as JSON has it.
func tree(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		panic("reports: " + err.Error()) // numbers and texts of our own
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		panic("reports: " + err.Error())
	}
	return out
}

func flatten(out map[string]string, path string, v any) {
	if m, ok := v.(map[string]any); ok {
		for name, inner := range m {
			flatten(out, path+"."+name, inner)
		}
		return
	}
	out[path] = fmt.Sprint(v)
}

func unequal(x, y map[string]string) []string {
	var paths []string
	for path := range x {
		paths = append(paths, path)
	}
	for path := range y {
		if _, ok := x[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	var out []string
	for _, path := range paths {
		if x[path] != y[path] {
			out = append(out, fmt.Sprintf("%s: %s, then %s", path, orDefault(x[path]), orDefault(y[path])))
		}
	}
	return out
}

func orDefault(text string) string {
	if text == "" {
		return "as by default"
	}
	return text
}
