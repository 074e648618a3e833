package engine

import (
	"errors"
	"fmt"
	"time"
)

// Errors of the store and the engine. Wrapped; test with errors.Is.
var (
	// ErrNotFound: no such run, park or version in this account.
	ErrNotFound = errors.New("not found")
	// ErrLeaseLost: another segment, a cancel or a restart has taken the run.
	ErrLeaseLost = errors.New("lease lost")
	// ErrNotRunnable: the run is over, or another segment holds it.
	ErrNotRunnable = errors.New("not runnable")
	// ErrWoken: an answer came in since the segment loaded; reload and go on.
	ErrWoken = errors.New("woken while parking")
	// ErrConflict: the state does not allow the change; see [ConflictError].
	ErrConflict = errors.New("conflict")
)

// ConflictError says why the state refused a change, in words for a person.
type ConflictError struct{ Message string }

func (e *ConflictError) Error() string { return e.Message }

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// InvalidError is bad input: the issues name each field.
type InvalidError struct {
	Message string
	Issues  Issues
}

func (e *InvalidError) Error() string { return e.Message }

// Codes of step errors that the engine itself gives.
const (
	CodeTemplate    = "template"     // a template could not be rendered
	CodeConfig      = "config"       // the rendered config does not fit the kind
	CodeTimeout     = "timeout"      // an attempt ran out of time
	CodePanic       = "panic"        // the kind panicked
	CodeTooLarge    = "too_large"    // an output is over a limit
	CodeRejected    = "rejected"     // an approver said no and no edge handles it
	CodeInterrupted = "interrupted"  // the process died while the step ran
	CodeCrashLoop   = "crash_loop"   // the process died five times while the step ran
	CodeUnknownType = "unknown_type" // no such kind
	CodeCancelled   = "cancelled"
	CodeFailed      = "failed"      // the kind returned an error without a code
	CodeItemsFailed = "item_failed" // a loop item or a branch failed
)

// StepError is a step's failure as it is stored and shown.
type StepError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	// Address is the step where it began, for errors handed up by containers.
	Address  string `json:"address,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
}

func (e *StepError) Error() string { return e.Code + ": " + e.Message }

// behaviour carries what an error asks of the retry policy.
type behaviour struct {
	err   error
	code  string
	fatal bool
	after time.Duration
}

func (b *behaviour) Error() string { return b.err.Error() }
func (b *behaviour) Unwrap() error { return b.err }

// Fatal marks err as not worth another attempt. Code is shown with the error.
func Fatal(code string, err error) error { return &behaviour{err: err, code: code, fatal: true} }

// Fatalf is Fatal with a formatted error.
func Fatalf(code, format string, args ...any) error {
	return Fatal(code, fmt.Errorf(format, args...))
}

// Retryable gives err a code; it is retried by policy.
func Retryable(code string, err error) error { return &behaviour{err: err, code: code} }

// RetryAfter is Retryable with the earliest time of the next attempt. The longer
// of d and the policy's own wait counts.
func RetryAfter(code string, d time.Duration, err error) error {
	return &behaviour{err: err, code: code, after: d}
}
