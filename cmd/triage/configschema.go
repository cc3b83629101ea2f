package main

import (
	"encoding/json"
	"io"
	"math"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/sim"
)

// schema is a JSON Schema, or a part of one.
type schema map[string]any

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// clusterSchema returns the schema of cluster files, made of the keys that are read.
func clusterSchema() schema {
	cfg := sim.Default()
	f := fileFlags(&cfg)
	top := keysSchema(f, topKeys)
	top["defaults"] = object("What a pool does not say itself.", withKeys(f, nil, []key{replicasKey}, poolKeys))
	top["engine"] = engineSchema(f)
	top["pools"] = schema{"type": []string{"array", "null"}, "description": "Replicas of several kinds.", "items": poolSchema(f)}
	top["needs"] = schema{"type": []string{"array", "null"}, "description": "What requests need of a pool beyond its model.", "items": needSchema()}
	top["gateway"] = gatewaySchema(f)
	top["signals"], top["routers"] = signalsSchema(), routersSchema()
	top["faults"] = schema{"type": []string{"array", "null"}, "description": "What happens to replicas while the trace is played.", "items": faultSchema()}
	s := object("Pools of replicas, the gateway before them, and what happens to them.", top)
	s["type"] = "object"
	s["$schema"], s["$id"], s["title"] = "https://json-schema.org/draft/2020-12/schema", "triage/cluster/v1", "A cluster file of triage"
	return s
}

// object is a mapping that may be left empty.
func object(description string, properties schema, required ...string) schema {
	s := schema{"type": []string{"object", "null"}, "description": description, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["type"], s["required"] = "object", required
	}
	return s
}

func engineSchema(f *pflag.FlagSet) schema {
	return object("Engine settings under vLLM's names.", keysSchema(f, engineKeys))
}

func poolSchema(f *pflag.FlagSet) schema {
	own := schema{
		"name":   described(schema{"type": "string", "minLength": 1}, "its replicas are called NAME-0, NAME-1 and so on"),
		"engine": engineSchema(f),
		"serves": listOf("model names that requests may ask for; without it the model's own"),
		"caps":   listOf("capabilities, as needs names them"),
	}
	return object("Equal replicas.", withKeys(f, own, []key{replicasKey}, poolKeys), "name", "replicas")
}

func needSchema() schema {
	return object("Requests that match all that is given need the capabilities.", schema{
		"model":                  described(schema{"type": "string"}, "that they ask for"),
		"tenant":                 described(schema{"type": "string"}, "that they are of"),
		"slo":                    described(schema{"type": "string"}, "class that they are of"),
		"prompt_tokens_at_least": described(whole(), "length of their prompt"),
		"caps":                   listOf("what they need"),
	}, "caps")
}

func faultSchema() schema {
	slow := schema{"properties": schema{"do": schema{"const": "slow"}}}
	s := object("A change of a replica.", schema{
		"at":      described(duration(), "since the run began"),
		"replica": described(schema{"type": "string"}, "its name"),
		"do":      described(schema{"enum": sim.FaultKinds}, "what happens"),
		"factor":  described(schema{"type": "number", "exclusiveMinimum": 0}, "slow: its steps take so many times as long; 1 restores"),
	}, "at", "replica", "do")
	s["if"], s["then"], s["else"] = slow, schema{"required": []string{"factor"}}, schema{"not": schema{"required": []string{"factor"}}}
	return s
}

func gatewaySchema(f *pflag.FlagSet) schema {
	limit := object("What a tenant may use; beyond that its requests are refused with 429.", schema{
		"tenant":       described(schema{"type": "string"}, "as in the trace; * is any"),
		"tokens_per_s": described(above0(), "prompt and generated tokens a second"),
		"burst":        described(above0(), "tokens at once; without it those of a second"),
	}, "tenant", "tokens_per_s")
	class := object("How requests with an SLO are held.", schema{
		"slo":      described(schema{"type": "string"}, "as in the trace; * is any"),
		"priority": described(schema{"type": "integer", "minimum": math.MinInt16, "maximum": math.MaxInt16}, "a higher one goes first"),
		"deadline": described(duration(), "longest hold, then 503"),
	}, "slo", "deadline")
	return object("The queue in front of each router, and limits.", withKeys(f, schema{
		"rate_limits": schema{"type": []string{"array", "null"}, "description": "The first that fits a tenant.", "items": limit},
		"classes":     schema{"type": []string{"array", "null"}, "description": "The first that fits a request.", "items": class},
	}, gatewayKeys))
}

func signalsSchema() schema {
	names := schema{"type": "array", "minItems": 1, "items": schema{"enum": []string{"waiting", "running", "kv"}}, "description": "what is reported; without it all"}
	scraped := object("Each replica is asked in turn.", schema{
		"scrape": described(duration(), "interval"),
		"delay":  described(duration(), "from a scrape to its arrival"),
		"phase":  described(schema{"enum": []sim.Phase{sim.Apart, sim.Together}}, "spread over the interval, or all replicas at the same time"),
		"fields": names,
	}, "scrape")
	pushed := object("A replica tells at each change.", schema{"push": described(duration(), "until it is heard"), "fields": names}, "push")
	return schema{"description": "How the replicas' numbers reach the router.", "anyOf": []schema{
		{"type": "string", "pattern": "^(live|scrape=|push=)", "description": "what --signals takes"}, scraped, pushed, {"type": "null"}}}
}

func routersSchema() schema {
	n := schema{"type": "integer", "minimum": 1, "maximum": 256}
	return schema{"description": "Routers, each with a book and a belief of its own.", "anyOf": []schema{n,
		object("How many, and who gets a request.", schema{"n": n,
			"by": described(schema{"enum": sim.Splits}, "by a hash of the session, or in turn")}, "n")}}
}

func withKeys(f *pflag.FlagSet, own schema, more ...[]key) schema {
	if own == nil {
		own = schema{}
	}
	for _, keys := range more {
		for k, v := range keysSchema(f, keys) {
			own[k] = v
		}
	}
	return own
}

// keysSchema describes keys as their flags are described.
func keysSchema(f *pflag.FlagSet, keys []key) schema {
	s := schema{}
	for _, k := range keys {
		flag := f.Lookup(k.flag)
		_, usage := pflag.UnquoteUsage(flag)
		s[k.name] = described(valueSchema(flag.Value.Type()), usage)
	}
	return s
}

// valueSchema returns the schema of a flag's values by its type.
func valueSchema(kind string) schema {
	switch kind {
	case "N":
		return whole()
	case "DUR":
		return duration()
	case "bool":
		return schema{"type": "boolean"}
	case "float", "float64":
		return schema{"type": "number"}
	}
	if strings.Contains(kind, "|") && strings.ToUpper(kind) != kind {
		return schema{"enum": strings.Split(kind, "|")}
	}
	return schema{"type": "string", "minLength": 1}
}

func described(s schema, description string) schema {
	s["description"] = description
	return s
}

func above0() schema { return schema{"type": "number", "exclusiveMinimum": 0} }

func whole() schema { return schema{"type": "integer", "minimum": 0} }

// duration is a number with its unit, or several, such as 1m30s.
func duration() schema {
	return schema{"type": "string", "pattern": `^(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*)$`}
}

func listOf(description string) schema {
	return schema{"type": "array", "items": schema{"type": "string", "minLength": 1}, "description": description}
}
