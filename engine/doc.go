// Package engine runs workflows: it reads definitions, validates and compiles
// them, walks them durably, and resumes them after any pause or crash.
//
// # How a run moves
//
// A [Definition] is compiled into an immutable [Plan]. A run is a set of
// [Record] values, one per step (a node executed at an address), and nothing
// else: the scheduler is a pure function of plan and records, used alike for a
// first run, for a resume and for recovery after a crash. Every decision that
// could come out differently a second time (the handle a condition chose, the
// edges taken, the collection a loop iterates over, the attempt number, the time
// of the next attempt) is stored in a record and never made again.
//
// One goroutine owns a run while a segment of it is being worked. Workers hand
// results to it over a channel; only it touches state, so there is no lock. No
// effect starts before everything that it depends on is committed through
// [Store]. Steps that compute without touching the outside (class [Pure]) are not
// committed one by one: their records ride along in the next commit.
//
// # Edges, joins and skips
//
// An edge is open until its source settles, then taken or dead, once. A node is
// ready when none of its incoming edges is open. It runs if at least one is
// taken; otherwise it is skipped and its own edges are dead.
//
// # Parking
//
// A step that waits for something outside of the process parks: its record and a
// [Park] are committed and, when nothing else can run, the segment ends. No
// goroutine, worker or memory is held. Answering a park writes the step's record
// and hands the run to a runner; the resumed segment knows nothing of approvals or
// timers, it loads the records and walks on.
//
// # Failure in a scope
//
// A step that fails under the policy "stop" fails its scope (the body it is in):
// nothing further starts there, steps in flight may finish, waits are closed as
// cancelled. A failed body fails one loop item or one parallel branch; what that
// means for the rest is decided by the container's settings. A failed root body
// fails the run.
//
// # Layering
//
// The package imports the standard library and engine/expr only. Databases are
// behind [Store], tracing behind [Tracer], JSON Schema behind [SchemaChecker].
package engine
