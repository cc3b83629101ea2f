package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2cee110a/triage/policies"
)

// Routers says how many routers there are. Each has its own policy, book and belief, hears from the replicas on its own,
// and knows nothing of what the others send.
type Routers struct {
	N  int // 0 is 1
	By Split
}

// Split says which router gets a request.
type Split string

const (
	ByHash Split = "hash" // of its session, or of the request without one
	InTurn Split = "turn" // one after the other
)

// Splits are the ways to split requests.
var Splits = []Split{ByHash, InTurn}

// routers returns how many routers there are.
func (s *Stage) routers() int { return max(1, s.cfg.Routers.N) }

// routerOf returns the router of a request.
func (r *run) routerOf(row int32) *router {
	n := len(r.routers)
	switch {
	case n == 1:
		return r.routers[0]
	case r.cfg.Routers.By == InTurn:
		return r.routers[int(row)%n]
	}
	key := uint64(row)
	if name := r.trace.Strings[r.trace.Session[row]]; name != "" {
		key = policies.Salt(name)
	}
	return r.routers[hash(r.cfg.Seed, key, routerStream)%uint64(n)]
}

// holding says whether any router holds a request.
func (r *run) holding() bool {
	return slices.ContainsFunc(r.routers, func(w *router) bool { return w.queue.Len() > 0 })
}

// ParseRouters reads a number of routers and how requests are split, such as "4" or "4,by=turn".
func ParseRouters(text string) (Routers, error) {
	number, by, ok := strings.Cut(text, ",")
	n, err := strconv.Atoi(number)
	r := Routers{N: n}
	if ok {
		value, found := strings.CutPrefix(by, "by=")
		if r.By = Split(value); !found {
			err = strconv.ErrSyntax
		}
	}
	if err != nil {
		return r, fmt.Errorf("routers is %q, want a number, or one with by=%s or by=%s, such as 4,by=%s", text, ByHash, InTurn, InTurn)
	}
	return r, r.check()
}

// String returns what ParseRouters reads.
func (r Routers) String() string {
	text := strconv.Itoa(max(1, r.N))
	if r.By == InTurn {
		text += ",by=" + string(r.By)
	}
	return text
}

func (r Routers) check() error {
	switch {
	case r.N < 0 || r.N > 256:
		return fmt.Errorf("routers is %d, want 1 to 256", r.N)
	case r.By != "" && !slices.Contains(Splits, r.By):
		return fmt.Errorf("routers are split by %q, want %s or %s", r.By, ByHash, InTurn)
	}
	return nil
}
