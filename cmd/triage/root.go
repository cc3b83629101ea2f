package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// run executes one command line and returns the exit code. Errors are printed once, here.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	out := &sink{w: stdout}
	root := rootCmd(columns(out))
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if out.err != nil { // whatever the command made of it
		err = failed{fmt.Errorf("standard output: %w", out.err)}
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "triage: %s\n", message(err))
	return exitCode(err)
}

// sink remembers the first write error, so that a full disk behind standard output never passes for success.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil && s.err == nil {
		s.err = bare(err)
	}
	return n, err
}

// rootCmd makes the command; help is at most width wide.
func rootCmd(width int) *cobra.Command {
	root := group(&cobra.Command{
		Use:   "triage",
		Short: "replay LLM traffic through routing policies on simulated replicas",
		Long: `triage replays logged LLM traffic through simulated GPU replicas and compares
routing policies: round robin, least requests, and an explicit score of prefix
affinity, queue and KV room.

Data goes to standard output, everything else to standard error.
Exit codes: 0 ok, 1 failed, 2 usage or bad configuration, 3 a gate failed,
4 a gate is inconclusive under --strict, 130 interrupted.`,
		Example: `  triage demo                        # a first look, on an embedded trace
  triage replay conv.jsonl           # round robin against the score
  triage replay conv.jsonl -p round-robin -p 'mine=score:aff=5,q=1'
  triage tune conv.jsonl             # search the score's weights on it
  triage trace info conv.jsonl.gz    # what is in a trace`,
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", width)))
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(demoCmd(), replayCmd(), tuneCmd(), gateCmd(), compareCmd(), reportCmd(), fidelityCmd(), calibrateCmd(), traceCmd(), configCmd(), policiesCmd(), modelsCmd(), versionCmd())
	return root
}

// group makes a command that only holds others: without arguments it prints its help.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var names []string
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name())
			}
		}
		return unknown("command", args[0], names)
	}
	cmd.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return cmd
}

// wants is the check for a command with one argument for each name.
func wants(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing, see %s --help", names[len(args)], c.CommandPath())
		case len(args) > len(names):
			if err := looseSwitch(c, args); err != nil {
				return err
			}
			return fmt.Errorf("unexpected argument %q, see %s --help", args[len(names)], c.CommandPath())
		}
		if i := slices.Index(args, ""); i >= 0 {
			return fmt.Errorf("%s is empty, see %s --help", names[i], c.CommandPath())
		}
		return nil
	}
}

// looseSwitch is the error for the value of a switch that stands apart, as in --async-scheduling false; nil if there is
// none.
func looseSwitch(c *cobra.Command, args []string) error {
	var given []string
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			given = append(given, "--"+f.Name)
		}
	})
	for _, arg := range args {
		if len(given) > 0 && (arg == "true" || arg == "false") {
			return fmt.Errorf("unexpected argument %q: a switch takes its value after =, as in %s=%s", arg, given[0], arg)
		}
	}
	return nil
}

// flagError adds the nearest flag to the error about an unknown one.
func flagError(c *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	var bad *pflag.InvalidValueError
	switch {
	case errors.As(err, &bad):
		return badValue(bad)
	case !errors.As(err, &missing) || len(missing.GetSpecifiedName()) < 2:
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := nearest(missing.GetSpecifiedName(), names); near != "" {
		return fmt.Errorf("unknown flag --%s (did you mean --%s?)", missing.GetSpecifiedName(), near)
	}
	return fmt.Errorf("unknown flag --%s, see %s --help", missing.GetSpecifiedName(), c.CommandPath())
}

// badValue says what a flag was given and what it wants.
func badValue(e *pflag.InvalidValueError) error {
	return valueError("--"+e.GetFlag().Name, e.GetValue(), e.GetFlag(), e.Unwrap())
}

// valueError says what a flag was given, under whatever name, and what it wants.
func valueError(name, value string, f *pflag.Flag, cause error) error {
	if f.Value.Type() == "bool" {
		cause = errors.New("want true or false")
	}
	var n *strconv.NumError
	if errors.As(cause, &n) {
		cause = errors.New("want a number")
	}
	if rest, ok := strings.CutPrefix(cause.Error(), f.Name+" "); ok {
		return fmt.Errorf("%s %s", name, rest)
	}
	if strings.HasPrefix(cause.Error(), value+":") {
		return fmt.Errorf("%s: %w", name, cause)
	}
	return fmt.Errorf("%s is %q: %w", name, value, cause)
}
