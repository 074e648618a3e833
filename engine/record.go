package engine

import (
	"encoding/json"
	"time"
)

// RecordKey names a record within a run.
type RecordKey struct {
	Address string
	Round   int
}

// Record is the state of one step: a node executed at an address. A run is the
// set of its records. There is at most one record per address and round.
//
// An address is the path of container ids down to the node, with the iteration
// in brackets: "triage[3]/checks/legal/legal-ok".
type Record struct {
	Address string
	Round   int
	NodeID  string
	Type    string
	Status  StepStatus
	Attempt int // tries begun, from 1; 0 for skipped steps
	// Seq orders records of a run by their creation.
	Seq int64
	// Input is the rendered config of the last attempt.
	Input json.RawMessage
	// Output is set for succeeded steps, and for failed ones whose policy goes on
	// ({"error":…}).
	Output json.RawMessage
	Error  *StepError
	// Handle is the output that was chosen.
	Handle string
	// Taken lists the out-edges taken, as indexes into the plan's edges. Nil means
	// not decided yet (an answered park: the next segment decides); empty means none.
	Taken []int
	// Variables are assignments to workflow variables, a JSON object, or nil.
	Variables json.RawMessage
	// Decision is what a container fixed when it started: a loop's collection.
	Decision json.RawMessage
	// NextAttemptAt is when a retrying step is due.
	NextAttemptAt time.Time
	// ParkID is the park of a parked step.
	ParkID    string
	Usage     Usage
	Warning   string
	StartedAt time.Time
	EndedAt   time.Time
	// Superseded records were replaced by a later round (retry); they stay for the log.
	Superseded bool
	// Recoveries counts how often a dead segment left this step running.
	Recoveries int
}

// Key returns the record's key.
func (r *Record) Key() RecordKey { return RecordKey{r.Address, r.Round} }

// ParkKind is what a parked step waits for.
type ParkKind string

// The park kinds.
const (
	ParkApproval  ParkKind = "approval"
	ParkTimer     ParkKind = "timer"
	ParkCallback  ParkKind = "callback"
	ParkChild     ParkKind = "child"
	ParkBrowser   ParkKind = "browser"
	ParkBudget    ParkKind = "budget"
	ParkInterrupt ParkKind = "interrupt"
)

// Park is a wait that outlives the process. A kind fills Kind, WakeAt, OnWake and
// Approval; the engine fills the rest.
type Park struct {
	ID      string
	RunID   string
	Address string
	Round   int
	NodeID  string
	Kind    ParkKind
	// WakeAt is when the wait ends by itself, or zero.
	WakeAt time.Time
	// OnWake is how it ends then. Required when WakeAt is set.
	OnWake *Resolution
	// Outcomes are the answers accepted, for parks that a person answers.
	Outcomes []Outcome
	// Approval is what the inbox shows, for ParkApproval and ParkInterrupt.
	Approval *ApprovalRequest
	// OpenedAt is set by the engine.
	OpenedAt time.Time
}

// Outcome is one answer that a person can give; its id is the handle taken.
type Outcome struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Tone  string `json:"tone,omitempty"` // "", "success", "danger"
	// Rejects is set by the engine when the handle has no edge and the outcome is a
	// refusal: choosing it fails the step with the code "rejected".
	Rejects bool `json:"rejects,omitempty"`
	// Refusal marks outcomes that say no.
	Refusal bool `json:"refusal,omitempty"`
	// RequireComment asks for a reason.
	RequireComment bool `json:"require_comment,omitempty"`
}

// Resolution is how a park ends: the record's output and handle, or its error.
type Resolution struct {
	Outcome string          `json:"outcome,omitempty"`
	Handle  string          `json:"handle,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"`
	Error   *StepError      `json:"error,omitempty"`
	// Again runs the step again instead of settling it: its record becomes
	// retrying, due at once, with the attempt number it had.
	Again bool `json:"again,omitempty"`
}

// ApprovalRequest is what an approver reads and may edit.
type ApprovalRequest struct {
	Title      string `json:"title"`
	Body       string `json:"body,omitempty"` // Markdown
	Department string `json:"department,omitempty"`
	// Assignees are user e-mail addresses; empty with an empty department means
	// everyone who may approve.
	Assignees []string `json:"assignees,omitempty"`
	// Content is the value under review, editable if Schema is set; may be nil.
	Content json.RawMessage `json:"content,omitempty"`
	// Schema is the JSON Schema that an answer's data must fit, or nil.
	Schema json.RawMessage `json:"schema,omitempty"`
}
