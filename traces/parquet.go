package traces

import (
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// The project's own format: one row a request, zstd, sorted by (arrival_ns, src_line), and Meta as key-value
// metadata. Readers ignore columns and keys that they do not know and refuse a newer major version. The same trace
// gives the same bytes.
const (
	schemaName  = "triage/trace/v"
	schemaMajor = 1
	importer    = "1" // changes when the same source would give another file

	groupRows   = 1 << 16 // most rows of a row group
	groupBlocks = 1 << 22 // a row group ends after this many block ids
)

// keyColumns are the columns that come first in every file.
type keyColumns struct {
	ArrivalNs int64  `parquet:"arrival_ns,delta"` // since t0
	SrcLine   int64  `parquet:"src_line,delta"`
	RequestID string `parquet:"request_id,optional"`
	Model     string `parquet:"model,optional,dict"`
	Adapter   string `parquet:"adapter,optional,dict"`
	Tenant    string `parquet:"tenant,optional,dict"`
	Session   string `parquet:"session,optional,dict"`
	SLO       string `parquet:"slo,optional,dict"`
	PrefixKey string `parquet:"prefix_key,optional,dict"` // the prompt template that the application declares
	ParentRow *int64 `parquet:"parent_row,optional"`      // 0-based row of this file, an earlier one
	Turn      *int32 `parquet:"turn,optional"`
	ThinkNs   *int64 `parquet:"think_ns,optional"`
}

// detailColumns are the columns that follow.
type detailColumns struct {
	MaxTokens *int32 `parquet:"max_tokens,optional"`
	// Blocks are dense ids of the full blocks; null is "unknown", which differs from empty. The list must be optional
	// to keep the two apart, and its encoding goes to the element: a list itself cannot be delta-encoded.
	Blocks          []int64 `parquet:"blocks,optional,list" parquet-element:",delta"`
	TailBlock       *int64  `parquet:"tail_block,optional"` // id of the last, partly filled block
	CachedTokensObs *int32  `parquet:"cached_tokens_obs,optional"`
	TTFTNsObs       *int64  `parquet:"ttft_ns_obs,optional"`
	E2ENsObs        *int64  `parquet:"e2e_ns_obs,optional"`
	ReplicaObs      string  `parquet:"replica_obs,optional,dict"`
	Finish          string  `parquet:"finish,optional,dict"` // why the answer ended
	Flags           int32   `parquet:"flags"`                // 0 unless the source was a file with others
}

// traceRow is a row of a trace file.
type traceRow struct {
	keyColumns
	PromptTokens int32  `parquet:"prompt_tokens"`
	OutputTokens *int32 `parquet:"output_tokens,optional"`
	detailColumns
	Status string `parquet:"status,dict"`
}

func (c *keyColumns) set(r *Record) {
	*c = keyColumns{
		ArrivalNs: r.ArrivalNs, SrcLine: r.Line, RequestID: r.ID,
		Model: r.Model, Adapter: r.Adapter, Tenant: r.Tenant, Session: r.Session, SLO: r.SLO, PrefixKey: r.PrefixKey,
		ParentRow: known(r.ParentRow), Turn: known(r.Turn), ThinkNs: known(r.ThinkNs),
	}
}

func (c *detailColumns) set(r *Record, blockSize int32) {
	*c = detailColumns{
		MaxTokens: known(r.MaxTokens), Blocks: r.Blocks, CachedTokensObs: known(r.CachedTokensObs),
		TTFTNsObs: known(r.TTFTNsObs), E2ENsObs: known(r.E2ENsObs), ReplicaObs: r.ReplicaObs,
		Finish: r.Finish, Flags: r.Flags,
	}
	if n := len(r.Blocks); n > 0 && int64(n)*int64(blockSize) > int64(r.PromptTokens) {
		c.Blocks, c.TailBlock = r.Blocks[:n-1], &r.Blocks[n-1]
	}
}

// known returns nil for Unknown.
func known[T int32 | int64](v T) *T {
	if v == Unknown {
		return nil
	}
	return &v
}

func writeParquet(w io.Writer, t *Trace) error {
	options := append(parquetOptions(t.Meta), parquet.SortingWriterConfig(parquet.SortingColumns(
		parquet.Ascending("arrival_ns"), parquet.Ascending("src_line"))))
	options = append(options, parquet.KeyValueMetadata("coverage", coverage(t)))
	g := newGroups[traceRow](w, options)
	for r := range t.Records() {
		row := traceRow{PromptTokens: r.PromptTokens, OutputTokens: known(r.OutputTokens), Status: r.Status.String()}
		row.keyColumns.set(&r)
		row.detailColumns.set(&r, t.Meta.BlockSize)
		if err := g.add(row, len(r.Blocks)); err != nil {
			return err
		}
	}
	return g.close()
}

// parquetOptions are those of every file: nothing in them depends on when or where it is written.
func parquetOptions(m Meta) []parquet.WriterOption {
	options := []parquet.WriterOption{
		parquet.CreatedBy("triage", strconv.Itoa(schemaMajor), ""),
		parquet.Compression(&zstd.Codec{Level: zstd.DefaultLevel}),
	}
	for _, kv := range m.pairs() {
		options = append(options, parquet.KeyValueMetadata(kv[0], kv[1]))
	}
	return options
}

// groups writes rows and ends row groups.
type groups[T any] struct {
	w          *parquet.GenericWriter[T]
	rows       []T
	total, ids int
}

func newGroups[T any](w io.Writer, options []parquet.WriterOption) *groups[T] {
	return &groups[T]{w: parquet.NewGenericWriter[T](w, options...), rows: make([]T, 0, 1024)}
}

func (g *groups[T]) add(row T, ids int) error {
	g.rows = append(g.rows, row)
	g.total++
	g.ids += ids
	full := g.total == groupRows || g.ids >= groupBlocks
	if !full && len(g.rows) < cap(g.rows) {
		return nil
	}
	if err := g.write(); err != nil || !full {
		return err
	}
	g.total, g.ids = 0, 0
	return g.w.Flush()
}

func (g *groups[T]) write() error {
	_, err := g.w.Write(g.rows)
	clear(g.rows)
	g.rows = g.rows[:0]
	return err
}

func (g *groups[T]) close() error {
	if err := g.write(); err != nil {
		return err
	}
	return g.w.Close()
}
