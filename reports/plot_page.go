package reports

import (
	"fmt"
	"io"
	"strings"
)

// Page is a folder of results explained: what each picture says, with the numbers of this run.
type Page struct {
	Comparison *Comparison
	Gallery    *Gallery
	Tuning     *Tuning
	Image      string   // ending of the pictures to show, such as "png"; "" shows none
	Files      []string // of the folder, but for this page
}

// howToRead says how to read each picture.
var howToRead = map[string]string{
	"affinity": "Each panel has prompts of like length, because long prompts take longer and share differently. From left to right the share of the " +
		"prompt that was cached grows. If the boxes fall from left to right within a panel, affinity pays; the counts below say how often a policy " +
		"gets there, and the bars on top say which requests cost the most time over a warm one.",
	"ttft": "Left, the share of requests that have their first token within a time: the curve further left is the better policy. Right, the share that wait " +
		"longer, with both axes logarithmic, so that the slowest requests show.",
	"load": "A column a policy. On top, the requests in flight on each replica over time: even colours are even load, a bright row is a hot replica. " +
		"Below, how busy the replicas are and how much of the prompts they find cached.",
	"regret": "Each cell is a pair of knob values; its number is how many percent worse the objective is than at the best point of the grid. A wide bright " +
		"area means that the exact weights do not matter; a narrow one, that they do. Dark cells are settings to keep away from.",
}

// Markdown writes the page.
func (p *Page) Markdown(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# What round robin costs, and what affinity is worth\n\n")
	for _, h := range header(p.Comparison) {
		fmt.Fprintf(b, "- **%s** %s\n", h.name, h.text)
	}
	fmt.Fprintf(b, "\n%s\n", markdownRuns(p.Comparison))
	markdownList(b, findingList(p.Comparison))
	for _, pic := range pictures {
		p.picture(b, pic.name, pic.question, pic.draw(p.Gallery).drawing)
	}
	r := NewSweep(p.Tuning).Regrets()
	p.picture(b, "regret", "which weights, and does it matter?", regretDrawing(&r))
	p.commands(b)
	_, err := io.WriteString(w, b.String())
	return err
}

// picture is a section: the question, the picture, the answer with its numbers, and how to read it.
func (p *Page) picture(b *strings.Builder, name, question string, d *drawing) {
	fmt.Fprintf(b, "\n## %s%s\n\n", strings.ToUpper(question[:1]), question[1:])
	fmt.Fprintf(b, "**%s.**\n\n", d.title)
	if p.Image != "" {
		fmt.Fprintf(b, "![%s](plots/%s.%s)\n\n", d.title, name, p.Image)
	}
	fmt.Fprintf(b, "%s\n", howToRead[name])
	for _, n := range d.notes {
		fmt.Fprintf(b, "\n%s\n", n)
	}
	if p.Image != "" {
		fmt.Fprintf(b, "\nThe numbers: [plots/%s.csv](plots/%s.csv).\n", name, name)
	}
}

// commands say how to get the same for another trace.
func (p *Page) commands(b *strings.Builder) {
	fmt.Fprintf(b, "\n## The same for your own trace\n\nThis folder comes from\n\n```\n%s\n%s\n```\n\n", p.Tuning.Command,
		strings.TrimSpace(p.Comparison.Command+" "+p.Comparison.Policies))
	b.WriteString("For a trace of yours, with a cluster like yours:\n\n```\n" +
		"triage trace info FILE\n" +
		"triage tune FILE --replicas 8 --model Qwen/Qwen3-32B --gpu H100 --tp 2 -o study\n" +
		"triage replay FILE --replicas 8 --model Qwen/Qwen3-32B --gpu H100 --tp 2 -p round-robin -p score -p tuned=@study/weights.json -o results\n" +
		"```\n\n`results/plots` and `study/plots` then hold the pictures; `triage report results study` draws them again.\n")
	if len(p.Files) > 0 {
		fmt.Fprintf(b, "\nBeside this page: `%s`.\n", strings.Join(p.Files, "`, `"))
	}
}
