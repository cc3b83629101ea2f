package fidelity

import (
	"math"
	"strconv"
	"strings"

	"github.com/seed-2cee110a/triage/engine"
)

// Coefficient is one of engine.Coefficients as the fit sees it.
type Coefficient struct {
	Name, Unit string
	guess      float64 // where the fit starts and what it leans to: a round figure
	scale      float64 // from Unit to what the engine takes
	of         func(*engine.Coefficients) *float64
}

// coefficients are all that is fitted.
var coefficients = []Coefficient{
	{"matrices, BF16", "share of peak", 0.7, 1, func(c *engine.Coefficients) *float64 { return &c.Compute }},
	{"matrices, FP8", "share of peak", 0.6, 1, func(c *engine.Coefficients) *float64 { return &c.Compute8 }},
	{"attention to prompts", "share of peak", 0.4, 1, func(c *engine.Coefficients) *float64 { return &c.Attention }},
	{"link, short messages", "share of link", 0.5, 1, func(c *engine.Coefficients) *float64 { return &c.Link }},
	{"link, long messages", "share of link", 0.75, 1, func(c *engine.Coefficients) *float64 { return &c.LinkBulk }},
	{"weights, Hopper", "share of bandwidth", 0.85, 1, func(c *engine.Coefficients) *float64 { return &c.Hopper.Weights }},
	{"weights, Ampere", "share of bandwidth", 0.85, 1, func(c *engine.Coefficients) *float64 { return &c.Ampere.Weights }},
	{"weights, Ada", "share of bandwidth", 0.85, 1, func(c *engine.Coefficients) *float64 { return &c.Ada.Weights }},
	{"KV cache, Hopper", "share of bandwidth", 0.85, 1, func(c *engine.Coefficients) *float64 { return &c.Hopper.KV }},
	{"KV cache, Ampere", "share of bandwidth", 0.85, 1, func(c *engine.Coefficients) *float64 { return &c.Ampere.KV }},
	{"KV cache, Ada", "share of bandwidth", 0.85, 1, func(c *engine.Coefficients) *float64 { return &c.Ada.KV }},
	{"all-reduce", "us a doubling of GPUs", 3, 1e-6, func(c *engine.Coefficients) *float64 { return &c.Reduce }},
	{"layer", "us", 50, 1e-6, func(c *engine.Coefficients) *float64 { return &c.Layer }},
	{"layer with experts", "us more", 30, 1e-6, func(c *engine.Coefficients) *float64 { return &c.Experts }},
	{"layer in FP8", "us more", 10, 1e-6, func(c *engine.Coefficients) *float64 { return &c.Quantise }},
	{"step", "us", 100, 1e-6, func(c *engine.Coefficients) *float64 { return &c.Step }},
	{"sampling", "bytes a logit", 500, 1, func(c *engine.Coefficients) *float64 { return &c.Sample }},
	{"server, before the engine", "ms", 6, 1e-3, func(c *engine.Coefficients) *float64 { return &c.Server }},
}

// Value returns the coefficient in its Unit.
func (k *Coefficient) Value(c engine.Coefficients) float64 { return *k.of(&c) / k.scale }

// share tells coefficients that are below 1 from those that are only above 0.
func (k *Coefficient) share() bool { return strings.HasPrefix(k.Unit, "share") }

// place is where the fit sees a value: its logarithm, or the log-odds of a share, which keeps it below 1. Near the guess,
// one place further on is a factor e for either.
func (k *Coefficient) place(v float64) float64 {
	if k.share() {
		return (1 - k.guess) * math.Log(v/(1-v))
	}
	return math.Log(v)
}

// at is the inverse of place.
func (k *Coefficient) at(x float64) float64 {
	if k.share() {
		return 1 / (1 + math.Exp(-x/(1-k.guess)))
	}
	return math.Exp(x)
}

// slope is the relative change of the value for a change of x.
func (k *Coefficient) slope(x float64) float64 {
	if k.share() {
		return (1 - k.at(x)) / (1 - k.guess)
	}
	return 1
}

// guesses are the places where the fit starts.
func guesses() []float64 {
	x := make([]float64, len(coefficients))
	for i, k := range coefficients {
		x[i] = k.place(k.guess)
	}
	return x
}

// coefficientsAt returns the engine's coefficients from their places.
func coefficientsAt(x []float64) engine.Coefficients {
	var c engine.Coefficients
	for i, k := range coefficients {
		*k.of(&c) = float64(k.at(x[i]) * k.scale)
	}
	return c
}

// places is the inverse of coefficientsAt.
func places(c engine.Coefficients) []float64 {
	x := make([]float64, len(coefficients))
	for i, k := range coefficients {
		x[i] = k.place(k.Value(c))
	}
	return x
}

// rounded keeps three digits of each: more than the measurements determine.
func rounded(c engine.Coefficients) engine.Coefficients {
	for _, k := range coefficients {
		v := k.of(&c)
		*v, _ = strconv.ParseFloat(strconv.FormatFloat(*v, 'e', 2, 64), 64)
	}
	return c
}
