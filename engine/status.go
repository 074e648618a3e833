package engine

import "slices"

// RunStatus is where a run is.
type RunStatus string

// The run statuses. Terminal ones are final.
const (
	RunQueued          RunStatus = "queued"
	RunRunning         RunStatus = "running"
	RunPendingApproval RunStatus = "pending_approval"
	RunWaiting         RunStatus = "waiting"
	RunSucceeded       RunStatus = "succeeded"
	RunFailed          RunStatus = "failed"
	RunRejected        RunStatus = "rejected"
	RunCancelled       RunStatus = "cancelled"
)

// Terminal reports whether the run is over.
func (s RunStatus) Terminal() bool {
	return s == RunSucceeded || s == RunFailed || s == RunRejected || s == RunCancelled
}

// runMoves is the whole table of allowed moves. Retry leaves failed, rejected and
// cancelled runs by an explicit restart, which is the only way out of them.
var runMoves = map[RunStatus][]RunStatus{
	RunQueued:          {RunRunning, RunCancelled},
	RunRunning:         {RunPendingApproval, RunWaiting, RunSucceeded, RunFailed, RunRejected, RunCancelled},
	RunPendingApproval: {RunQueued, RunRunning, RunCancelled},
	RunWaiting:         {RunQueued, RunRunning, RunCancelled},
	RunFailed:          {RunQueued},
	RunRejected:        {RunQueued},
	RunCancelled:       {RunQueued},
}

// CanMove reports whether a run may go from one status to another.
func CanMove(from, to RunStatus) bool {
	return slices.Contains(runMoves[from], to)
}

// StepStatus is where a step is.
type StepStatus string

// The step statuses. A step that has no record has not been reached.
const (
	StepRunning   StepStatus = "running"
	StepRetrying  StepStatus = "retrying"
	StepParked    StepStatus = "parked"
	StepSucceeded StepStatus = "succeeded"
	StepFailed    StepStatus = "failed"
	StepSkipped   StepStatus = "skipped"
	StepCancelled StepStatus = "cancelled"
)

// Terminal reports whether the step is over.
func (s StepStatus) Terminal() bool {
	return s == StepSucceeded || s == StepFailed || s == StepSkipped || s == StepCancelled
}
