package engine

// Forest is the prefix forest of a trace as the engine sees it: plain slices, one entry a node, filled by the caller
// and never written here. A parent comes before its children.
type Forest struct {
	Parent []int32 // the node before, -1 at a root
	End    []int32 // prompt tokens from the root to the end of the node
	Walks  []int32 // requests of the trace that walk the node
}
