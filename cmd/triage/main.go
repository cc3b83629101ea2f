// Command triage replays logged LLM traffic through simulated GPU replicas and compares routing policies.
package main

import "os"

func main() {
	saveMemory()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
