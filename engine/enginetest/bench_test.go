package enginetest

import (
	"testing"

	"github.com/seed-2cee110a/triage/engine"
)

// Conversations of 8 turns on one replica, alone, with adapters, and with generated tokens that the next turn hits.
func BenchmarkTurns(b *testing.B) {
	const sessions, turns, gap = 300, 8, 900 // tokens by which a prompt is longer than the one before
	forest := &engine.Forest{}
	for range sessions {
		for turn := range int32(turns) {
			parent := int32(len(forest.Parent)) - 1
			if turn == 0 {
				parent = -1
			}
			forest.Parent = append(forest.Parent, parent)
			forest.End = append(forest.End, gap*(turn+1))
			forest.Walks = append(forest.Walks, turns+1-turn)
		}
	}
	for _, c := range []struct {
		name     string
		loras    int
		adapters int32
		reuse    bool
	}{{"plain", 0, 0, false}, {"adapters", 8, 64, false}, {"reuse", 0, 0, true}} {
		b.Run(c.name, func(b *testing.B) {
			cfg := engine.Default()
			cfg.KVBlocks, cfg.MaxLoRAs, cfg.AdapterLoadTime = 60000, c.loras, 50*engine.Millisecond
			e, err := engine.New(cfg, refPhysical, engine.NewLayout(forest, cfg.BlockSize))
			if err != nil {
				b.Fatal(err)
			}
			var events []engine.Event
			b.ReportAllocs()
			for b.Loop() {
				e.Reset()
				for i := range int32(sessions * turns) {
					session, turn := i%sessions, i/sessions
					s := engine.Sequence{ID: i, Leaf: session*turns + turn, Prompt: gap * (turn + 1), Output: 400}
					if c.reuse && turn+1 < turns {
						s.Leaf, s.Reuse = s.Leaf+1, s.Prompt+s.Output-1
					}
					if c.adapters > 0 {
						s.Adapter = 1 + session*session%c.adapters
					}
					now := engine.Time(i) * 200 * engine.Millisecond
					e.Advance(now, &events)
					e.Submit(now, s)
					e.Next()
				}
				for at := e.Next(); at != engine.Never; at = e.Next() {
					events = events[:0]
					e.Advance(at, &events)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*sessions*turns), "ns/request")
			b.ReportMetric(float64(e.Stats().Steps), "steps")
		})
	}
}
