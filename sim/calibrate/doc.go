// Package calibrate fits a cost model to what a real server was measured to do.
//
// A log is requests with their arrival, lengths, TTFT and E2E, or single steps with what was in them. Requests are
// played again on simulated replicas, and the coefficients are moved until TTFT and TPOT come out as measured: damped
// Gauss-Newton steps with derivatives by differences, no coefficient below 0, the same result on every run. Steps are
// fitted by least squares of relative errors.
//
// The last part of a log is kept out of the fit, and the error of predicting it is what the calibration is worth. It is
// predicted from arrivals and lengths alone, with one exception: whether a driver held a request back until another
// finished is seen from the latencies of those before it, there too. Such a request is sent as long after the one before
// as it was, and never before there is room.
//
// # What a log cannot tell
//
// Some coefficients show only in some traffic: what a decoding sequence costs only where their number varies. After a fit
// each coefficient has an interval at 95 %. One whose interval is as wide as itself is not determined: it is kept at
// what the registry's cost model says, which is reported, and where there is no such value the fit is refused.
//
// Overheads before and after a step both add to TTFT and E2E alike, so no log tells them apart: the one after a step is
// never fitted.
package calibrate
