// Command triage replays logged LLM traffic through simulated GPU replicas and compares routing policies.
package main

import (
	"os"
	"runtime/debug"
)

func main() {
	if os.Getenv("GOGC") == "" {
		// Nearly all memory is a few large arrays that live to the end, a trace and what became of its requests: collecting
		// more often costs next to nothing, and ten million requests fit into 3 GB.
		debug.SetGCPercent(50)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
