//go:build race

package fidelity

const raceDetector = true
