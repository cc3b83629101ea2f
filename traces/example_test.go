package traces_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/seed-2cee110a/triage/traces"
)

func ExampleOpen() {
	t, err := traces.Open("testdata/small.jsonl", traces.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d requests, %d prompt tokens, %d of them unique\n", t.Len(), t.PromptTokens(), t.UniqueTokens())
	for n, end := range t.Forest.End {
		fmt.Printf("node %d under %d ends at token %d, walked by %d\n", n, t.Forest.Parent[n], end, t.Forest.Walks[n])
	}
	// Output:
	// 5 requests, 5104 prompt tokens, 3056 of them unique
	// node 0 under -1 ends at token 1024, walked by 3
	// node 1 under 0 ends at token 1040, walked by 1
	// node 2 under 0 ends at token 1300, walked by 1
	// node 3 under -1 ends at token 16, walked by 1
	// node 4 under 0 ends at token 2048, walked by 1
}

// A bad line is an error that names its place.
func ExampleRead() {
	file := `{"timestamp": 0, "input_length": 700, "output_length": 9, "hash_ids": [0, 1]}
{"timestamp": 5, "input_length": 0, "output_length": 9, "hash_ids": []}`
	for r, err := range traces.Read("mooncake", strings.NewReader(file), traces.Options{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.PromptTokens, "tokens in blocks", r.Blocks)
	}
	// Output:
	// 700 tokens in blocks [0 1]
	// input:2: input_length is 0, want at least 1
}

func ExampleGenerate() {
	t, err := traces.Generate(traces.Params{
		Requests: 3, Rate: 2, Tenants: 1, Turns: 1, BlockSize: 16, BlockTail: traces.TailCeil,
		System: traces.Length{Median: 40, Max: 40},
		User:   traces.Length{Median: 10, Min: 10, Max: 10},
		Output: traces.Length{Median: 5, Min: 5, Max: 5},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for r := range t.Records() {
		fmt.Println(r.Tenant, r.PromptTokens, r.Blocks)
	}
	// Output:
	// t1 50 [0 1 2 3]
	// t1 50 [0 1 4 5]
	// t1 50 [0 1 6 7]
}

func ExampleWrite() {
	t, err := traces.Open("testdata/small.csv", traces.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := traces.Write("mooncake", &file, t); err != nil {
		fmt.Println(err)
		return
	}
	file.WriteTo(os.Stdout)
	// Output:
	// {"timestamp": 0, "input_length": 1040, "output_length": 20}
	// {"timestamp": 12.0001, "input_length": 1300, "output_length": 31}
	// {"timestamp": 12.0001, "input_length": 16, "output_length": 1}
}
