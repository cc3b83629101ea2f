package main

import _ "embed"

// workflow is a GitHub Actions workflow to start from.
//
//go:embed workflow.yml
var workflow []byte
