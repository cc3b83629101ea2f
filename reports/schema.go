package reports

import _ "embed"

//go:embed schema/replay-v1.schema.json
var schema []byte

// Schema returns the JSON Schema of the JSON report.
func Schema() []byte { return append([]byte(nil), schema...) }
