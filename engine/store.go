package engine

import (
	"context"
	"encoding/json"
	"time"
)

// Store keeps runs. Each method is one transaction: it happens whole or not at
// all, and it also enqueues whatever job makes the run go on if this process dies
// right after. It neither lists nor searches; pages read the database directly.
type Store interface {
	// CreateRun stores a queued run. With an idempotency key that this workflow has
	// seen: the earlier run if the input is equal (created is false), else a
	// [ConflictError].
	CreateRun(ctx context.Context, n NewRun) (run Run, created bool, err error)
	// Load reads a run and all of its records without claiming it. accountID ""
	// reads any account's.
	Load(ctx context.Context, accountID, runID string) (Snapshot, error)
	// Claim takes the run for a segment: status running, epoch+1, lease from now in
	// database time. [ErrNotRunnable] if it is terminal, or leased by another
	// segment whose lease has not expired. Snapshot.TakenOver tells that the
	// previous segment died.
	Claim(ctx context.Context, runID, owner string, lease time.Duration) (Snapshot, error)
	// Commit applies a transition under the epoch fence. It reserves t.Spans span
	// sequence numbers and returns the last of them; without any, the number that it
	// returns says nothing.
	Commit(ctx context.Context, t Transition) (spanSeq int64, err error)
	// Answer decides an open park by compare-and-set, writes the step's record,
	// bumps wakeups and requeues the run if it is parked. [ErrNotFound] for a park
	// of another account; [ConflictError] if it is decided or closed.
	Answer(ctx context.Context, a Answer) (Answered, error)
	// Cancel ends a run in any non-terminal status: bumps the epoch, closes open
	// parks and steps. Cancelling a cancelled run changes nothing.
	Cancel(ctx context.Context, c Cancellation) (Cancelled, error)
	// Restart re-queues a terminal run. reset is called inside the transaction
	// with the run as it is.
	Restart(ctx context.Context, accountID, runID string, reset func(Snapshot) (Reset, error)) (Run, error)
	// Due lists runs that need a segment now: queued ones older than grace, those
	// whose lease has expired, those whose wake time has come.
	Due(ctx context.Context, grace time.Duration, limit int) ([]string, error)
}

// DefinitionSource finds the canonical definition of a version by its hash.
type DefinitionSource interface {
	Definition(ctx context.Context, hash string) (json.RawMessage, error)
}

// Actor is who did something.
type Actor struct {
	// Kind is "user", "token", "schedule", "webhook", "cli", "run", "timer" or "system".
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// Run is one execution of a workflow version.
type Run struct {
	ID             string
	AccountID      string
	WorkflowID     string
	VersionID      string
	DefinitionHash string
	Status         RunStatus
	// Input and Variables are JSON objects, or nil.
	Input          json.RawMessage
	Variables      json.RawMessage
	Output         json.RawMessage
	Error          *StepError
	Usage          Usage
	IdempotencyKey string
	StartedBy      Actor
	ParentRunID    string // of a child run or a fork
	ParentAddress  string
	Depth          int
	// Epoch counts segments; a commit carries the epoch it was claimed under.
	Epoch int64
	// Wakeups counts answers; a segment parks only if it has seen them all.
	Wakeups int64
	// SpanSeq is the last span sequence number given out.
	SpanSeq   int64
	WakeAt    time.Time
	CreatedAt time.Time
	StartedAt time.Time
	EndedAt   time.Time
}

// NewRun is what CreateRun stores. ID, CreatedAt and DefinitionHash are given.
type NewRun struct {
	Run
	// Records seed a fork.
	Records []Record
}

// Snapshot is a run with every record and open park, as one transaction saw them.
type Snapshot struct {
	Run     Run
	Records []Record // by Seq
	Parks   []Park   // open ones
	// TakenOver is set by Claim when the previous segment's lease had expired
	// without being given back.
	TakenOver bool
}

// Transition is everything that one commit changes in a run.
//
// The records, parks and status are applied only if Epoch is still the run's
// epoch ([ErrLeaseLost] otherwise). ClosePark entries compare-and-set the park;
// if one is not open any more nothing is applied and the error is [ErrWoken].
// When Status is a parked one, Wakeups must equal the run's, else nothing is
// applied and the error is [ErrWoken]. Moving to a parked or terminal status
// gives the lease back. At most one terminal transition ever succeeds.
type Transition struct {
	RunID     string
	AccountID string
	Epoch     int64
	Records   []Record // upserts by (address, round)
	OpenParks []Park
	ClosePark []ParkClose
	Status    RunStatus // "" leaves it
	Wakeups   int64
	// WakeAt is the earliest timer of a parked run; a job is scheduled for it.
	WakeAt time.Time
	Output json.RawMessage
	Error  *StepError
	// Usage is added to the run's.
	Usage Usage
	// Spans is how many span sequence numbers to reserve (runs.span_seq grows by it).
	Spans int
	// Unused is how many of the numbers up to SpanLimit, the last that was reserved
	// for this segment, are given back: only if none was reserved after them.
	Unused    int
	SpanLimit int64
	// Lease renews the lease by this much from now; 0 leaves it.
	Lease time.Duration
	At    time.Time
}

// ParkClose ends a park without a person.
type ParkClose struct {
	ID string
	// Status is "timed_out", "cancelled" or "done".
	Status string
	Reason string
}

// Answer is a decision on a park.
type Answer struct {
	AccountID string
	ParkID    string
	By        Actor
	Outcome   string
	Comment   string
	Data      json.RawMessage
	At        time.Time
	// Resolve turns the park into the step's result. It is called inside the
	// transaction; its error (an *InvalidError) leaves the park open.
	Resolve func(Park) (Resolution, error)
}

// Decision is an answer as it was stored.
type Decision struct {
	ParkID  string
	By      Actor
	Outcome string
	Comment string
	Data    json.RawMessage
	At      time.Time
}

// Answered is the effect of an answer.
type Answered struct {
	Decision Decision
	Park     Park
	Record   Record
	Run      Run // after the change, SpanSeq already counting the record's span
	// Repeated tells that the same person had given the same answer before.
	Repeated bool
}

// Cancellation asks to end a run.
type Cancellation struct {
	AccountID string
	RunID     string
	By        Actor
	Reason    string
	At        time.Time
}

// Cancelled is the effect of a cancellation: the run after it, and the records
// it closed (the run's SpanSeq was advanced by one for each, plus one for the
// run itself). Changed is false if the run was cancelled before.
type Cancelled struct {
	Run     Run
	Records []Record
	Changed bool
}

// Reset is what a restart changes. Records are upserted, Superseded ones are
// marked so, and Input, when set, replaces the run's input.
type Reset struct {
	Records    []Record
	Superseded []RecordKey
	Input      json.RawMessage
}
