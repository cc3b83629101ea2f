package reports

import (
	"io"

	"github.com/seed-2cee110a/triage/sim/calibrate"
)

// Calibrated is a cost model fitted to a log, to be reported.
type Calibrated struct {
	*calibrate.Result
	Saved string // file that it was written to, "" if none
	Flags string // of the replica, in shell syntax
	Width int    // columns of text
}

// CalibrateReport writes it in one format.
type CalibrateReport struct {
	Name  string
	Doc   string
	Write func(w io.Writer, c *Calibrated) error
}

var calibrateCatalog = []CalibrateReport{
	{"table", "text for a terminal", CalibrateText},
	{"json", "schema " + CalibrateSchemaName + ", times in seconds, errors as ratios", CalibrateJSON},
}

// CalibrateCatalog returns every report of a calibration.
func CalibrateCatalog() []CalibrateReport { return append([]CalibrateReport(nil), calibrateCatalog...) }

// CalibrateText writes what was fitted and how far to trust it.
func CalibrateText(w io.Writer, c *Calibrated) error {
	p := &page{width: Width}
	if c.Width > 0 {
		p.width = c.Width
	}
	p.wrap("log      ", c.logLine())
	p.wrap("replica  ", c.replicaLine())
	p.wrap("fit      ", c.fitLine())
	if len(c.Coefficients) > 0 {
		p.line("\ncoefficients, intervals at 95 %")
		p.line(c.coefficientTable())
		p.note("Intervals: " + calibrate.IntervalsFrom + ". They hold if what is kept is right.")
	}
	if len(c.Errors) > 0 {
		p.line("\nprediction of what was held out")
		p.line(c.errorTable())
	}
	p.section(section{title: "doubts", bullet: "  * ", items: c.doubts()})
	p.line("\ntry next")
	p.WriteString(commandsTo(p.width, c.next()))
	_, err := io.WriteString(w, p.String())
	return err
}
