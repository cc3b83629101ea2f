package reports

import "fmt"

// beliefJSON is what the routers believed at the end, and gave up.
type beliefJSON struct {
	Entries    int64     `json:"entries"`
	Tokens     int64     `json:"tokens"`
	Duplicated int64     `json:"duplicated_tokens"`
	Evictions  int64     `json:"evictions"`
	GivenUp    int64     `json:"given_up_tokens"`
	Share      number    `json:"given_up_ratio"`
	Hot        []hotJSON `json:"hot"`
}

type hotJSON struct {
	Hash   string `json:"hash"`
	Tokens int32  `json:"tokens"`
	Uses   uint32 `json:"uses"`
	Copies int    `json:"copies"`
}

// belief is absent for a policy that tells nothing of it.
func belief(r *Run) *beliefJSON {
	b := &r.Belief
	if b.Entries == 0 && b.Evictions == 0 && b.GivenUp == 0 {
		return nil
	}
	out := &beliefJSON{Entries: b.Entries, Tokens: b.Tokens, Duplicated: b.Duplicated, Evictions: b.Evictions, GivenUp: b.GivenUp,
		Share: number(float64(b.GivenUp) / float64(b.Prompt)), Hot: []hotJSON{}}
	for _, h := range b.Hot {
		out.Hot = append(out.Hot, hotJSON{fmt.Sprintf("%016x", h.Hash), h.Tokens, h.Uses, h.Copies})
	}
	return out
}

// believed is absent for a policy without a belief.
func believed(r *Run) *number {
	if !known(r.Believed) {
		return nil
	}
	n := number(r.Believed)
	return &n
}
