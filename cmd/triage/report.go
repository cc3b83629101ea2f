package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/reports"
)

// reportJob is what to draw again, as the command line describes it.
type reportJob struct {
	dir     string // where to; "" is the folder of results itself
	formats pictures
}

func reportCmd() *cobra.Command {
	j := &reportJob{}
	cmd := &cobra.Command{
		Use:   "report DIR...",
		Short: "draw the pictures of kept results again",
		Long: `report draws the pictures of folders that replay -o or tune -o wrote, each
with its numbers as CSV, into the folder plots in each of them. Nothing is
replayed. Pictures of before are replaced.

Of a replay: TTFT by the share of the prompt that hit, apart by prompt length
(affinity); the distribution of TTFT and its tail (ttft); requests in flight,
busy share and hit ratio over time by replica (load). Of a search: the regret
over the two knobs that matter most (regret).`,
		Example: `  triage replay demo -o drawn
  triage report drawn --plots svg
  triage report drawn -o pictures`,
		Args: someFolders,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.VarP(path{&j.dir}, "output", "o", "folder `DIR` for the pictures instead; with several results, one in it for each")
	bindPlots(f, &j.formats)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		return j.run(cmd.Context(), args, cmd.ErrOrStderr())
	})
	return cmd
}

// someFolders is the check for one folder or more, each once.
func someFolders(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return wants("DIR")(c, args)
	}
	seen := map[string]bool{}
	for _, a := range args {
		if name := filepath.Clean(a); seen[name] {
			return fmt.Errorf("folder %s is given twice", a)
		} else {
			seen[name] = true
		}
	}
	return nil
}

// run draws one folder after the other.
func (j *reportJob) run(ctx context.Context, dirs []string, stderr io.Writer) error {
	if len(j.formats) == 0 {
		return usage{errors.New("--plots is none: there is nothing to do, want svg, png or svg,png")}
	}
	targets, err := j.targets(dirs)
	if err != nil {
		return usage{err}
	}
	for i, dir := range dirs {
		if err := ctx.Err(); err != nil {
			return err
		}
		files, err := j.files(dir)
		if err != nil {
			return err
		}
		if err := drawInto(ctx, targets[i], files); err != nil {
			return explain(err)
		}
		fmt.Fprintf(stderr, "wrote %s: %d files\n", targets[i], len(files))
		if trust := reports.KeptTrust(dir); trust != "" {
			fmt.Fprintln(stderr, trust)
		}
	}
	return nil
}

// targets are where the pictures of each folder go.
func (j *reportJob) targets(dirs []string) ([]string, error) {
	var out []string
	taken := map[string]string{}
	for _, dir := range dirs {
		target := filepath.Join(dir, plots)
		switch {
		case j.dir != "" && len(dirs) == 1:
			target = filepath.Clean(j.dir)
		case j.dir != "":
			target = filepath.Join(j.dir, filepath.Base(dir))
		}
		if other, ok := taken[target]; ok {
			return nil, fmt.Errorf("pictures of %s and %s would both go to %s; give them one by one", other, dir, target)
		}
		taken[target] = dir
		out = append(out, target)
	}
	if j.dir != "" && len(dirs) > 1 {
		if err := os.Mkdir(j.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, named(j.dir, err)
		}
	}
	return out, nil
}

// files are the pictures of a folder of results.
func (j *reportJob) files(dir string) ([]reports.PlotFile, error) {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	switch {
	case has("outcomes.parquet"):
		g, err := reports.ReadGallery(dir)
		if err != nil {
			return nil, err
		}
		return reports.PlotFiles(g, j.formats)
	case has("sweep.parquet"):
		return reports.ReadTuningPlots(dir, j.formats)
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, named(dir, err)
	}
	return nil, fmt.Errorf("%s holds neither outcomes.parquet nor sweep.parquet: want a folder written by replay -o or tune -o", dir)
}
