package policies_test

import (
	"testing"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/policies/policytest"
)

// TestPolicies runs the suite on every policy of the catalog and on the scorer's kinds of belief and filter.
func TestPolicies(t *testing.T) {
	texts := []string{"score:prefix=bucket,k=1", "score:prefix=oracle,n=100", "score:fit=off,norm=absolute", "score:stale=3s,stale_as=full",
		"score:stale=2s,ttft=1,tpot=1", "random:seed=7"}
	for _, e := range policies.Catalog() {
		texts = append(texts, e.Name)
	}
	for _, text := range texts {
		t.Run(text, func(t *testing.T) { policytest.Run(t, parse(t, text).New) })
	}
}

func TestScoreLaws(t *testing.T) {
	policytest.RunScore(t, func(c policies.ScoreConfig) policies.Policy { return policies.NewScore(c) })
}
