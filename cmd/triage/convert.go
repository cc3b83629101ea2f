package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/traces"
)

func convertCmd() *cobra.Command {
	var read traces.Options
	var to string
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "write a trace in another format",
		Long: `convert reads a trace and writes it in the format that OUT's ending stands for,
or that --to says; - is standard input or output. An ending .gz or .zst packs
the output. The trace's digest stays the same, but for --adapters: then the
adapters are in OUT, and replaying it is replaying IN with the same --adapters.
An existing OUT is replaced, whole or not at all; it must not be IN.`,
		Example: `  triage trace convert conv.jsonl conv.parquet
  triage trace convert conv.parquet conv.jsonl.gz
  triage trace convert c.jsonl lora.parquet --adapters zipf:s=1.1,n=64,base=0.2
  cat conv.jsonl | triage trace convert - - --to parquet > conv.parquet`,
		Args: wants("IN", "OUT"),
	}
	cmd.Flags().Var(choice[string]{&to, writableFormats()}, "to", "format to write, if OUT's ending does not say")
	bindTrace(cmd.Flags(), &read)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		format, err := outputFormat(args[1], to)
		if err != nil {
			return usage{err}
		}
		if err := checkApart(args[0], args[1]); err != nil {
			return usage{err}
		}
		t, err := open(cmd.Context(), args[0], read)
		if err != nil {
			return err
		}
		return writeTrace(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args[1], format, t)
	})
	return cmd
}

func writableFormats() []string {
	var names []string
	for _, f := range traces.Formats() {
		if f.Writable() {
			names = append(names, f.Name)
		}
	}
	return names
}

// outputFormat returns the format to write to a file, or to standard output if name is "-".
func outputFormat(name, to string) (string, error) {
	switch {
	case to != "":
		return to, checkOut(name)
	case name == "-":
		return "", fmt.Errorf("standard output has no ending, want --to with one of %s", strings.Join(writableFormats(), ", "))
	}
	format, err := traces.FormatOf(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst"))
	if err != nil {
		return "", fmt.Errorf("%w; --to says it", err)
	}
	return format, checkOut(name)
}

func checkOut(name string) error {
	if name == "-" {
		return nil
	}
	return checkFile(name)
}

// writeTrace writes t to a file, whole or not at all, or to standard output, and says what the format cannot hold.
func writeTrace(ctx context.Context, stdout, stderr io.Writer, name, format string, t *traces.Trace) error {
	write := func(w io.Writer) error { return traces.Write(format, interrupted{ctx, w}, t) }
	if lost := traces.Lost(format, t); len(lost) > 0 {
		fmt.Fprintf(stderr, "%s cannot hold %s: left out\n", format, strings.Join(lost, ", "))
	}
	if name == "-" {
		return write(stdout)
	}
	err := writeFile(ctx, name, func(w io.Writer) error { return packed(name, w, write) })
	if err != nil {
		return explain(err)
	}
	fmt.Fprintf(stderr, "wrote %s: %d requests, %s\n", name, t.Len(), t.Digest)
	return nil
}

// packed writes through the compressor that the file's ending stands for.
func packed(name string, w io.Writer, write func(io.Writer) error) error {
	var z io.WriteCloser
	switch {
	case strings.HasSuffix(name, ".gz"):
		z = gzip.NewWriter(w)
	case strings.HasSuffix(name, ".zst"):
		enc, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		z = enc
	default:
		return write(w)
	}
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}

// interrupted is a writer that fails once its context has ended.
type interrupted struct {
	ctx context.Context
	w   io.Writer
}

func (i interrupted) Write(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.w.Write(p)
}
