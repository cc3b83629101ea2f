// Package traces reads, makes and writes request traces: who asked when, for how many tokens, and which prompts share
// a prefix.
//
// A file is read as a sequence of Records, one at a time, and built into a Trace: columns sorted by (arrival, source
// line), and one prefix forest for all requests. A Trace is immutable; any number of runs share it. An Outcome is a
// Record and what became of it.
//
// # Fields and units
//
// Times are integer nanoseconds since the trace's time 0, which is a wall clock only if Meta.T0UnixNs says so.
// Lengths are tokens. A number that the source did not say is Unknown (-1, null in files), never 0. An output of 0
// tokens is read as 1 and noted. Line is the place in the source; together with the arrival it orders the requests, so
// that equal arrivals keep the order of the file.
//
// Blocks names a prompt's prefix: one id for each Meta.BlockSize tokens. A source gives the last, partly filled block
// an id (TailCeil) or none (TailFloor), but only one of the two in a file. nil means that the identity is unknown.
// Requests share a prefix as far as their ids agree, within the same model, adapter and identity scope, and a partly
// filled block is equal only to one with the same id and as many tokens.
//
// Options.Adapters and Trace.WithAdapters lay LoRA adapters over a trace that has none; Meta.Overlays says so.
//
// Trace.Digest names the content that a replay depends on. It does not depend on the format of the file, nor on the
// numbers that a file uses for its blocks.
//
// # Formats
//
// Formats are told apart by content, not by name; Options.Format overrides. Files may be packed with gzip or zstd.
//
//	parquet    the project's own: every column, units and provenance in key-value metadata; also outcome files, and
//	           files in which a row names an earlier one whose first blocks it shares (prefix_row, prefix_blocks)
//	mooncake   JSON lines: timestamp (ms), input_length, output_length, hash_ids
//	azure      CSV: TIMESTAMP, ContextTokens, GeneratedTokens
//
// To add one, write a reader (a function from an input to a sequence of Records) and add a row to the table in
// format.go.
//
// # Errors
//
// Readers stream: the first record comes before the last line is read, and memory does not grow with the file (Parquet
// is read by row group, and whole only from a pipe or a packed file, as its index is at the end; of a file with
// prefix_row the ids that rows list stay in memory). A bad line is an error that names its place, the field, what was
// found and what was wanted; nothing is skipped. What was inferred or is doubtful is in Trace.Notes.
package traces
