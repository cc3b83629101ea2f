package policies_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/policies/policytest"
)

// TestPolicies runs the suite on every policy of the catalog and on the scorer's kinds of belief and filter.
func TestPolicies(t *testing.T) {
	texts := []string{"score:prefix=bucket,k=1", "score:prefix=oracle,n=100", "score:fit=off,norm=absolute", "score:stale=3s,stale_as=full",
		"score:stale=2s,ttft=1,tpot=1", "random:seed=7", "score:norm=minmax,fit=hold", "score:norm=mean,others=on", "score:norm=time,others=on",
		"score:order=root,capacity=0.5,ttl=1s", "score:prefix=events,spec=1s", "score:prefix=bucket,bound=1,bound_by=tokens"}
	texts = append(texts, wrapped...)
	for _, e := range policies.Catalog() {
		texts = append(texts, e.Name)
	}
	for _, text := range texts {
		t.Run(text, func(t *testing.T) { policytest.Run(t, parse(t, text).New) })
	}
}

// wrapped has every wrapper, around policies with and without a score, a memory and a belief, and around another.
var wrapped = []string{"sample(2):score", "sample(1):round-robin", "hysteresis(0.5):score:norm=minmax", "hysteresis:least-request",
	"bounded(1):score", "bounded(1.5):random", "sticky(0.5,penalty=1s,rate=1000):score", "sticky:round-robin",
	"sample(3):hysteresis(0):bounded:sticky(0.1):score:prefix=events"}

// No wrapper holds, sheds or fails what the policy alone would dispatch, or the other way round.
func TestWrappersRefuseNothing(t *testing.T) {
	for _, text := range wrapped {
		if _, inner, _ := strings.Cut(text, "):"); strings.Contains(text, "(") {
			rapid.Check(t, func(t *rapid.T) {
				c := policytest.Draw(t)
				var with, without policies.Decision
				parse(t, text).New().Pick(&c.Request, &c.View, &with)
				parse(t, inner).New().Pick(&c.Request, &c.View, &without)
				if with.Action != without.Action {
					t.Fatalf("%s: %v, and %v without", text, with.Action, without.Action)
				}
			})
		}
	}
}

func TestScoreLaws(t *testing.T) {
	policytest.RunScore(t, func(c policies.ScoreConfig) policies.Policy { return policies.NewScore(c) })
}
