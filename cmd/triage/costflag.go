package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/sim"
)

// costFlag is the flag for a cost model: one by name, or a file. The file's overheads give way to those of flags.
type costFlag struct {
	cfg   *sim.Config
	flags *pflag.FlagSet
}

func (c costFlag) Type() string { return "NAME|FILE" }

func (c costFlag) String() string {
	if c.cfg == nil {
		return ""
	}
	return c.cfg.Cost
}

func (c costFlag) Set(text string) error {
	if slices.Contains(sim.Costs, text) {
		c.cfg.Cost, c.cfg.CostFile = text, nil
		return nil
	}
	f, err := readCostFile(text)
	if err != nil {
		return err
	}
	f.Apply(c.cfg, c.flags.Changed("overhead-before"), c.flags.Changed("overhead-after"))
	return nil
}

// readCostFile reads a cost file. A word that is no file is taken for a misspelt name.
func readCostFile(name string) (*sim.CostFile, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		if near := nearest(name, sim.Costs); near != "" {
			return nil, fmt.Errorf("have %s, or the name of a file; did you mean %q?", strings.Join(sim.Costs, ", "), near)
		}
		return nil, fmt.Errorf("have %s, or the name of a file: %w", strings.Join(sim.Costs, ", "), bare(err))
	}
	return sim.ParseCostFile(name, data)
}
