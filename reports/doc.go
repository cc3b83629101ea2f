// Package reports turns the results of runs into tables, files and findings in words.
//
// Compare digests results into a Comparison: a header, one row a run, findings and advice. Every report is a function
// of a writer and a Comparison; Catalog lists them. Equal results give equal bytes.
//
//	table  for a terminal, at most 100 columns wide with policy labels of ordinary length
//	md     for a pull request or a chat
//	csv    a row a run, times in seconds
//	json   schema triage/replay/v1 (Schema has the JSON Schema), times in seconds, ratios from 0 to 1, null for
//	       what is not known
//	bench  Go benchmark lines, for benchstat -col policy
//
// A sample of the first lines of a table:
//
//	trace    demo: 4,500 requests in 1,045 s (4.31/s), sha256:20ffe2b50a9b
//	cluster  8 replicas of Qwen/Qwen3-32B on 2 x H100, 327,200 KV tokens each
//
//	             TTFT                    TPOT   E2E         im-   re-  pre-   TTFT
//	             mean   p50  p90    p99  mean   p90   hit  bal-  jec-  emp-   gain
//	policy         ms    ms   ms     ms    ms     s        ance   ted   ted
//	round-robin   413   290  926  1,727  19.6  6.61  0.63  1.01     0     0   base
//	score         156  75.4  382  1,034  18.5  5.52  0.91  1.56     0     0  -62 %
//
// Inspect describes a trace without replaying it, and Manifest records what made a result.
//
// Every result says how far to trust it, see package trust: in the header, in JSON and in the manifest. FidelityText
// and its kin print errors against measurements, FidelityPlotFiles draws them.
//
// Gates are conditions on the numbers of runs, such as ttft.p90 < 0.5: RunGates on those of a replay, Gating on a result
// that was kept and a baseline. A number that is not known makes a gate inconclusive, never a pass. CompareTwo puts two
// kept results side by side. Both take the intervals of their differences over windows of the trace, see windows.go.
package reports
