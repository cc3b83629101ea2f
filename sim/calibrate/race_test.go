//go:build race

package calibrate

const raceDetector = true
