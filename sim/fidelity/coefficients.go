package fidelity

import (
	"math"
	"strconv"

	"github.com/seed-2cee110a/triage/engine"
)

// Coefficient is one of engine.Coefficients as the fit sees it.
type Coefficient struct {
	Name, Unit string
	guess      float64 // where the fit starts and what it leans to: a round figure
	most       float64 // physics forbids more
	scale      float64 // from Unit to what the engine takes
	of         func(*engine.Coefficients) *float64
}

// highest is the largest share that is believed of hardware.
const highest = 0.98

// coefficients are all that is fitted.
var coefficients = []Coefficient{
	{"matrices, BF16", "share of peak", 0.7, highest, 1, func(c *engine.Coefficients) *float64 { return &c.Compute }},
	{"matrices, FP8", "share of peak", 0.6, highest, 1, func(c *engine.Coefficients) *float64 { return &c.Compute8 }},
	{"attention to prompts", "share of peak", 0.4, highest, 1, func(c *engine.Coefficients) *float64 { return &c.Attention }},
	{"link, short messages", "share of link", 0.5, highest, 1, func(c *engine.Coefficients) *float64 { return &c.Link }},
	{"link, long messages", "share of link", 0.75, highest, 1, func(c *engine.Coefficients) *float64 { return &c.LinkBulk }},
	{"weights, Hopper", "share of bandwidth", 0.85, highest, 1, func(c *engine.Coefficients) *float64 { return &c.Hopper.Weights }},
	{"weights, Ampere", "share of bandwidth", 0.85, highest, 1, func(c *engine.Coefficients) *float64 { return &c.Ampere.Weights }},
	{"weights, Ada", "share of bandwidth", 0.85, highest, 1, func(c *engine.Coefficients) *float64 { return &c.Ada.Weights }},
	{"KV cache, Hopper", "share of bandwidth", 0.85, highest, 1, func(c *engine.Coefficients) *float64 { return &c.Hopper.KV }},
	{"KV cache, Ampere", "share of bandwidth", 0.85, highest, 1, func(c *engine.Coefficients) *float64 { return &c.Ampere.KV }},
	{"KV cache, Ada", "share of bandwidth", 0.85, highest, 1, func(c *engine.Coefficients) *float64 { return &c.Ada.KV }},
	{"all-reduce", "us a doubling of GPUs", 3, math.Inf(1), 1e-6, func(c *engine.Coefficients) *float64 { return &c.Reduce }},
	{"layer", "us", 50, math.Inf(1), 1e-6, func(c *engine.Coefficients) *float64 { return &c.Layer }},
	{"layer with experts", "us more", 30, math.Inf(1), 1e-6, func(c *engine.Coefficients) *float64 { return &c.Experts }},
	{"layer in FP8", "us more", 10, math.Inf(1), 1e-6, func(c *engine.Coefficients) *float64 { return &c.Quantise }},
	{"step", "us", 100, math.Inf(1), 1e-6, func(c *engine.Coefficients) *float64 { return &c.Step }},
	{"sampling", "bytes a logit", 500, math.Inf(1), 1, func(c *engine.Coefficients) *float64 { return &c.Sample }},
	{"server, before the engine", "ms", 6, math.Inf(1), 1e-3, func(c *engine.Coefficients) *float64 { return &c.Server }},
}

// Value returns the coefficient in its Unit.
func (k *Coefficient) Value(c engine.Coefficients) float64 { return *k.of(&c) / k.scale }

// guesses are the logarithms of where the fit starts: all coefficients are above 0, and errors are relative.
func guesses() []float64 {
	x := make([]float64, len(coefficients))
	for i, k := range coefficients {
		x[i] = math.Log(k.guess)
	}
	return x
}

// bounds are the logarithms of what physics allows.
func bounds() []float64 {
	x := make([]float64, len(coefficients))
	for i, k := range coefficients {
		x[i] = math.Log(k.most)
	}
	return x
}

// coefficientsAt returns the engine's coefficients from their logarithms.
func coefficientsAt(x []float64) engine.Coefficients {
	var c engine.Coefficients
	for i, k := range coefficients {
		*k.of(&c) = float64(math.Exp(x[i]) * k.scale)
	}
	return c
}

// logarithms is the inverse of coefficientsAt.
func logarithms(c engine.Coefficients) []float64 {
	x := make([]float64, len(coefficients))
	for i, k := range coefficients {
		x[i] = math.Log(k.Value(c))
	}
	return x
}

// rounded keeps two digits of each: as many as the measurements determine.
func rounded(c engine.Coefficients) engine.Coefficients {
	for _, k := range coefficients {
		v := k.of(&c)
		*v, _ = strconv.ParseFloat(strconv.FormatFloat(*v, 'e', 1, 64), 64)
	}
	return c
}
