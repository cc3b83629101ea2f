package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// modelConfig is the flag for a model's config.json. It names the model, unless --model does.
type modelConfig struct {
	cfg   *sim.Config
	flags *pflag.FlagSet
}

func (m modelConfig) Type() string { return "FILE" }

func (m modelConfig) String() string {
	if m.cfg == nil || m.cfg.ModelConfig == nil {
		return ""
	}
	return m.cfg.ModelConfig.File
}

func (m modelConfig) Set(file string) error {
	if file == "" {
		return errors.New("want a model's config.json")
	}
	read, err := readModelConfig(file)
	if err != nil {
		return err
	}
	m.cfg.ModelConfig = read
	if !m.flags.Changed("model") { // given later, it replaces the name
		m.cfg.Model = read.Model.Name
	}
	return nil
}

func readModelConfig(file string) (*sim.ModelConfig, error) {
	f, err := os.Open(file)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	defer f.Close()
	model, err := engine.ParseModelConfig(file, f)
	if err != nil {
		return nil, err
	}
	return &sim.ModelConfig{File: file, Model: model, Registered: model.Registered()}, nil
}
