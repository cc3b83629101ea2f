//go:build !race

package fidelity

const raceDetector = false
