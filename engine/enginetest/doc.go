// Package enginetest has what tests of the engine share: a harness that runs
// workflows on any store, stores that fail at will, random workflows with an oracle,
// counters of effects, and the conformance suite that every store must pass.
//
// # How to add a promise
//
// A promise is one sentence about the engine and a test that tries to break it. The
// tests are in engine/enginetest/promises, one file per subject. To add one:
//
//  1. Write TestPromiseNN<Words> with the next free number. Its doc comment states
//     the promise in one sentence; a page is made of these comments.
//  2. Take the stores to try it on from each(t, …): memory, SQLite and PostgreSQL, as
//     the flag -promise.database says.
//  3. Draw what is random from a seed given by b.seeds(t, n, …). A failing seed is
//     printed with the command that runs it alone; `make soak` goes on with fresh seeds.
//  4. Break things with [Faulty]: set [Options].Faulty, then [Faulty.Set] a [Fault] at
//     a call, and bring the run to its end with [Harness.Drive], which boots another
//     engine whenever a process dies.
//  5. Take workflows from [Generate] and hold what became of a run against
//     [Flow.Check], which knows the rules and nothing of the engine; or write one by
//     hand where the promise is about a single situation.
//  6. Count effects with [Effects]: by idempotency key, in process as a kind or as an
//     HTTP server.
//
// Tests wait for events ([Faulty.Moved], [Faulty.Hung], channels of a probe), never for
// time to pass. Every database is checked against the invariants of models.DB.Verify
// when its test ends.
package enginetest
