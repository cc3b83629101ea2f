// Package engine models one GPU replica: a server in the manner of vLLM v1 with a waiting queue, continuous
// batching, chunked prefill, a pool of KV blocks with prefix caching, and preemption by recomputation.
//
// It has no clock, no goroutine, no randomness and no policy. The caller says up to when, and time is an integer
// count of picoseconds, so that k steps taken at once end in the same picosecond as k steps taken one by one.
//
// # The life of a sequence
//
// Submit hands a sequence over at the instant of its dispatch. OverheadBefore later it joins the waiting queue. It is
// admitted to the batch when its turn comes and its KV blocks can be had, prefills in chunks, emits its first token
// at the end of the step that computes the last of its prompt, then one token a step. Every token is delivered
// OverheadAfter after its step ended. The last token is emitted, never stored: a request fills prompt + output - 1
// tokens of KV.
//
// # A step
//
// A replica alternates boundaries and steps. At a boundary (the end of the step before, or the arrival that wakes an
// idle replica) the batch is formed from every sequence that joined at or before that instant:
//
//  1. The running sequences, in admission order, while the budget of MaxNumBatchedTokens lasts. A decoding sequence
//     wants one token; one in prefill wants min(remaining, budget left, LongPrefillTokenThreshold if set). Each is
//     given the KV blocks that its computed and wanted tokens need. When the pool cannot give them all, the last
//     running sequence is preempted (its blocks are freed, its computed count returns to 0, it becomes the head of
//     the waiting queue) and the allocation is tried again; a sequence that preempts itself ends this phase. The budget
//     lasts for all of them: each was admitted on tokens that those before it left over, and none of them wants more in
//     a later step.
//  2. Then the full blocks of these chunks, and those that decoding sequences fill, are cached, in the same order (see
//     below).
//  3. The waiting sequences, first come first served, if nothing was preempted at this boundary, while budget is left
//     and fewer than MaxNumSeqs run. The hit is the longest run of resident full blocks from the start, at most
//     tokens-1 tokens, rounded down to a block, where tokens is prompt + emitted so far. The sequence wants
//     min(tokens-hit, budget left, threshold) and is given blocks for that chunk, but only if blocks for all of its
//     tokens beyond the hit are available (ReserveFullISL) or, without that setting, blocks for the chunk. Available
//     is empty + free-queue blocks, less the free-queue blocks that the hit itself would pin, less the watermark
//     (int(Watermark*KVBlocks), only while the running list is not empty, those admitted at this boundary included).
//     If they are not available, or the sequence may not join yet, the line stops: nobody overtakes, and the failed
//     try changes nothing. Only adapters let a sequence be overtaken (see below).
//
// The step then takes CostModel.Step of its batch. A scheduled sequence counts as decode if it has emitted at least
// one token and needs exactly one more to catch up; everything else is prefill. At the end of the step every
// scheduled sequence with all its tokens computed emits one; those that are complete are freed in batch order.
//
// With AsyncScheduling a waiting sequence may be admitted at a boundary only if it was already waiting at the
// boundary before (it joined at or before the start of the step that just ended). If nothing is running at the
// boundary the replica is idle and starts at once. A preempted sequence waits from the boundary that preempted it.
//
// A preempted sequence recomputes prompt and emitted tokens as prefill. Its first token stands, nothing is emitted
// twice, and its reported hit is that of its first admission.
//
// # KV blocks
//
// Block k of a sequence covers tokens [k*b, (k+1)*b). Its identity is the node of the prefix forest that contains its
// last token, with the offset. Blocks of nodes that no other request of the trace walks, blocks beyond the
// identified part of the prompt and blocks with generated tokens that no later turn is known to contain are private:
// only their own sequence can hit them, after a preemption.
//
// Where a later turn is known to go on from a sequence, its Leaf is that of the later turn, and Reuse says how many
// tokens of prompt and output the path there names. The full blocks within are as blocks of a prompt, those with
// generated tokens from when the step that fills them is scheduled. The last token is never stored, so Reuse counts up
// to prompt + output - 1. The caller counts such a walk of the later turn's path in Forest.Walks.
//
// A full block becomes resident under its identity at the boundary at which the chunk that fills it is scheduled, so
// a sequence admitted later at the same boundary can hit it. If the identical block is resident already, the copy is
// private, and so are all later blocks of that sequence: a sequence is a shared run followed by a private run.
//
// When a sequence is freed, its last block, if only partly filled, becomes empty. Its full blocks that nobody else
// holds go to the tail of the free queue, last block first. Empty blocks are used before any is evicted; evictions
// take the head of the queue. So the resident set is closed under prefixes. A hit on a block with no holder takes it
// out of the queue. Without prefix caching every freed block is empty and nothing hits.
//
// A sequence admitted again after a preemption hits the shared run as far as it goes, then its own private blocks
// from there on, if they are still resident. Its private blocks that it does not hit lose their identity and age in
// the queue where they are.
//
// # Adapters
//
// With MaxLoRAs above 0 a step serves at most so many LoRA adapters: a waiting sequence with one that would be one too
// many among those scheduled so far at this boundary is skipped. It keeps its place, and the line goes on behind it. A
// sequence of the base model, adapter 0, is never skipped.
//
// At most MaxLoRAs adapters are resident. The step that admits a sequence whose adapter is not loads it, which takes
// AdapterLoadTime longer for the whole batch, once for each adapter loaded. It goes to an empty slot, or else evicts
// the adapter that is idle for longest. An adapter is idle from when its last running sequence finishes or is
// preempted until one runs again; no other is evicted. A step whose batch has sequences of more than one adapter, the
// base model not counted, takes MixedAdapters times as long, before the loads. With MaxLoRAs 0 adapters are ignored.
//
// That adapters do not share KV blocks is the caller's part: sequences of different adapters have leaves of different
// trees of the forest.
//
// # What is simplified
//
//   - vLLM keeps a duplicate block under the same hash and hits it when the first copy is evicted; here a duplicate
//     is private for good.
//   - vLLM looks at the cache for each running sequence before it allocates for the next; here the running sequences
//     are allocated first and cached afterwards, so an eviction in the same phase can free an identity for them.
//   - Private blocks left behind by a second admission are not hit again.
//   - Freed slots and blocks are visible at the boundary at once, with async scheduling too: at most one step early.
//
// The second and third move hit ratios by far less than 0.1 %: enginetest plays random cases with and without them
// (TestSimplificationsHardlyMoveHits prints the figures under -v).
package engine
