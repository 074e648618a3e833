package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"sluice/engine"
)

// FaultMode is what goes wrong at a call of a store.
type FaultMode string

// The ways in which a store fails. "Before" changes nothing; "after" means that the
// call was applied and its caller does not know.
const (
	// FailBefore and FailAfter return an error once; the next calls work.
	FailBefore FaultMode = "fail-before"
	FailAfter  FaultMode = "fail-after"
	// HangBefore and HangAfter keep the caller until [Faulty.Release].
	HangBefore FaultMode = "hang-before"
	HangAfter  FaultMode = "hang-after"
	// CrashBefore and CrashAfter kill the process: from then on its store answers
	// nothing, so that the engine on it can neither read nor write. Another engine
	// is to be booted on the same underlying store; see [Harness.Crash].
	CrashBefore FaultMode = "crash-before"
	CrashAfter  FaultMode = "crash-after"
)

// FaultModes lists all of them.
var FaultModes = []FaultMode{FailBefore, FailAfter, HangBefore, HangAfter, CrashBefore, CrashAfter}

// Fault is one failure of a store.
type Fault struct {
	// Method narrows the calls that are counted ("Commit"); "" counts all.
	Method string
	// Call is which of them fails, from 1, counted from when the fault was set.
	Call int
	Mode FaultMode
}

func (f Fault) String() string {
	m := f.Method
	if m == "" {
		m = "call"
	}
	return fmt.Sprintf("%s at %s %d", f.Mode, m, f.Call)
}

// Errors of a faulty store.
var (
	ErrFault = errors.New("the test's store fails here")
	// errDead is a lost lease to the engine, which lets go of its runs at once.
	errDead = fmt.Errorf("the process is dead: %w", engine.ErrLeaseLost)
)

// Faulty is a store as one process sees it, with faults at will.
//
// The leases it takes have expired already, so that whoever comes after a crash can
// take the runs over at once: two engines must not work on one Faulty's underlying
// store at the same time, unless that is what a test is about.
type Faulty struct {
	base Backend

	mu      sync.Mutex
	calls   int
	pending []Fault
	dead    bool
	struck  int
	release chan struct{}
	moved   chan struct{}
	hung    chan struct{}
}

var _ Backend = (*Faulty)(nil)

// NewFaulty is a store that fails only where it is told to.
func NewFaulty(base Backend) *Faulty {
	return &Faulty{base: base, release: make(chan struct{}), moved: make(chan struct{}, 1), hung: make(chan struct{}, 1)}
}

// Set adds faults to those that have not struck yet.
func (f *Faulty) Set(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = append(f.pending, faults...)
}

// Calls counts the calls so far.
func (f *Faulty) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Struck counts the faults that have happened.
func (f *Faulty) Struck() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.struck
}

// Dead reports a crash.
func (f *Faulty) Dead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead
}

// Kill is a crash now.
func (f *Faulty) Kill() {
	f.mu.Lock()
	f.dead = true
	f.mu.Unlock()
	tell(f.moved)
}

// Release lets hung calls go on, now and later.
func (f *Faulty) Release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.release:
	default:
		close(f.release)
	}
}

// Moved tells that something has happened since it was last read: a run changed its
// status, or a fault struck.
func (f *Faulty) Moved() <-chan struct{} { return f.moved }

// Hung tells that a call hangs.
func (f *Faulty) Hung() <-chan struct{} { return f.hung }

func tell(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// strike counts a call and finds the fault that is due at it.
func (f *Faulty) strike(method string) (mode FaultMode, dead bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return "", true
	}
	f.calls++
	kept := f.pending[:0]
	for _, p := range f.pending {
		if p.Method == "" || p.Method == method {
			if p.Call--; p.Call == 0 && mode == "" {
				mode = p.Mode
				f.struck++
				continue
			}
		}
		kept = append(kept, p)
	}
	f.pending = kept
	if mode == CrashBefore {
		f.dead = true
	}
	return mode, false
}

// do makes a call with whatever is to go wrong at it.
func (f *Faulty) do(method string, call func() error) error {
	mode, dead := f.strike(method)
	if dead {
		return errDead
	}
	if mode != "" {
		defer tell(f.moved)
	}
	switch mode {
	case CrashBefore:
		return errDead
	case FailBefore:
		return ErrFault
	case HangBefore:
		f.hang()
	default:
	}
	err := call()
	switch mode {
	case FailAfter:
		err = errors.Join(ErrFault, err)
	case HangAfter:
		f.hang()
	case CrashAfter:
		f.Kill()
	default:
	}
	if f.Dead() {
		return errDead // whatever came of it, nobody hears of it
	}
	return err
}

func (f *Faulty) hang() {
	tell(f.hung)
	<-f.release
}

// CreateRun implements [engine.Store].
func (f *Faulty) CreateRun(ctx context.Context, n engine.NewRun) (run engine.Run, created bool, err error) {
	err = f.do("CreateRun", func() (err error) { run, created, err = f.base.CreateRun(ctx, n); return err })
	return run, created, err
}

// Load implements [engine.Store].
func (f *Faulty) Load(ctx context.Context, accountID, runID string) (snap engine.Snapshot, err error) {
	err = f.do("Load", func() (err error) { snap, err = f.base.Load(ctx, accountID, runID); return err })
	return snap, err
}

// Claim implements [engine.Store].
func (f *Faulty) Claim(ctx context.Context, runID, owner string, _ time.Duration) (snap engine.Snapshot, err error) {
	err = f.do("Claim", func() (err error) { snap, err = f.base.Claim(ctx, runID, owner, -time.Second); return err })
	return snap, err
}

// Commit implements [engine.Store].
func (f *Faulty) Commit(ctx context.Context, t engine.Transition) (seq int64, err error) {
	t.Lease = 0
	err = f.do("Commit", func() (err error) { seq, err = f.base.Commit(ctx, t); return err })
	if t.Status != "" {
		tell(f.moved)
	}
	return seq, err
}

// Answer implements [engine.Store].
func (f *Faulty) Answer(ctx context.Context, a engine.Answer) (out engine.Answered, err error) {
	err = f.do("Answer", func() (err error) { out, err = f.base.Answer(ctx, a); return err })
	return out, err
}

// Cancel implements [engine.Store].
func (f *Faulty) Cancel(ctx context.Context, c engine.Cancellation) (out engine.Cancelled, err error) {
	err = f.do("Cancel", func() (err error) { out, err = f.base.Cancel(ctx, c); return err })
	tell(f.moved)
	return out, err
}

// Restart implements [engine.Store].
func (f *Faulty) Restart(ctx context.Context, accountID, runID string, reset func(engine.Snapshot) (engine.Reset, error)) (run engine.Run, err error) {
	err = f.do("Restart", func() (err error) { run, err = f.base.Restart(ctx, accountID, runID, reset); return err })
	return run, err
}

// Due implements [engine.Store].
func (f *Faulty) Due(ctx context.Context, grace time.Duration, limit int) (ids []string, err error) {
	err = f.do("Due", func() (err error) { ids, err = f.base.Due(ctx, grace, limit); return err })
	return ids, err
}

// Definition implements [engine.DefinitionSource].
func (f *Faulty) Definition(ctx context.Context, hash string) (raw json.RawMessage, err error) {
	err = f.do("Definition", func() (err error) { raw, err = f.base.Definition(ctx, hash); return err })
	return raw, err
}
