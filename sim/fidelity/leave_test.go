package fidelity

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-2cee110a/triage/engine"
)

// servers is a folder with a measured TPOT, ms, of one Llama-3.1-8B on each of some GPUs.
func servers(t *testing.T, tpot map[string]string, gpus ...string) string {
	t.Helper()
	dir := t.TempDir()
	experiments := []string{"exp_id,model,hardware,tp,dp,dtype,max_num_seqs,max_num_batched_tokens,max_model_len,gpu_mem_util,cpu_kv_offload,kv_blocks,block_size,prefix_caching,stages_rate_x_seconds,n_requests_per_stage,output_len,input_len_mean,distinct_prompts,prompt_groups,regime,trace_file,note"}
	truth := []string{"exp_id,stage,subset,metric,stat,value,n_requests"}
	for _, g := range gpus {
		experiments = append(experiments, "on-"+g+",meta-llama/Llama-3.1-8B,"+g+",1,1,bf16,128,2048,4096,0.9,false,1000,16,on,2x10,20,8,100,10,1,stable,,")
		truth = append(truth, "on-"+g+",0,all,tpot,mean,"+tpot[g]+",20")
	}
	for name, rows := range map[string][]string{"experiments.csv": experiments, "ground_truth.csv": truth} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(rows, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func leaveOneOut(t *testing.T, dir string, workers int) (*Without, []Progress) {
	t.Helper()
	var told []Progress
	var busy atomic.Bool
	r, err := LeaveOneOut(t.Context(), dir, Settings{Workers: workers, Seed: 1}, func(p Progress) {
		if !busy.CompareAndSwap(false, true) {
			t.Error("progress is told by two at a time")
		}
		told = append(told, p)
		busy.Store(false)
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, told
}

// Each combination is left out once and told of, and what is found does not depend on how many are left out at a time.
func TestLeaveOneOut(t *testing.T) {
	gpus := []string{"H100", "A100-80GB", "L40S"}
	dir := servers(t, map[string]string{"H100": "7", "A100-80GB": "11", "L40S": "24"}, gpus...)
	r, told := leaveOneOut(t, dir, 1)
	if len(r.Left) != len(gpus) || len(r.All) != 1 || r.All[0].N != len(gpus) {
		t.Fatalf("%d combinations and %+v in all, want %d of each", len(r.Left), r.All, len(gpus))
	}
	sum := 0.0
	for i, l := range r.Left {
		if want := "meta-llama/Llama-3.1-8B on 1 x " + gpus[i] + ", bf16"; l.Combination != want {
			t.Errorf("combination %d is %s, want %s", i, l.Combination, want)
		}
		if l.Played < 1 {
			t.Errorf("%s: the others were not played", l.Combination)
		}
		sum += l.Errors[0].Mean
		if want := (Progress{i + 1, len(gpus), l.Combination}); told[i+1] != want {
			t.Errorf("told %+v, want %+v", told[i+1], want)
		}
	}
	if !near(r.All[0].Mean, sum/3) {
		t.Errorf("the mean error in all is %v, want %v", r.All[0].Mean, sum/3)
	}
	again, told := leaveOneOut(t, dir, 3)
	if d := cmp.Diff(r, again, cmpopts.IgnoreUnexported(Left{})); d != "" {
		t.Errorf("on three workers it differs: %s", d)
	}
	if len(told) != 1+len(gpus) || told[0] != (Progress{Of: 3}) || told[3].Done != 3 {
		t.Errorf("told %+v, want the start and one of each", told)
	}
}

// What is left out does not help to predict itself: an only combination is predicted by the guesses, and whatever was
// measured there, the prediction stays.
func TestLeaveOneOutOfOne(t *testing.T) {
	for _, tpot := range []string{"7", "14"} {
		dir := servers(t, map[string]string{"H100": tpot}, "H100")
		r, _ := leaveOneOut(t, dir, 2)
		all, err := targets(dir, Settings{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		m, err := misses(t.Context(), all, coefficientsAt(guesses()), 1)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.All[0].Bias, math.Expm1(m[0]); !near(got, want) {
			t.Errorf("where %s ms were measured the error is %v, want %v as at the guesses", tpot, got, want)
		}
	}
}

// An error ends it.
func TestLeaveOneOutFails(t *testing.T) {
	if _, err := LeaveOneOut(t.Context(), t.TempDir(), Settings{Workers: 2, Coefficients: &engine.Coefficients{}}, func(Progress) {}); err == nil {
		t.Error("an empty folder is no error")
	}
}
