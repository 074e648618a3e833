package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sluice/engine/expr"
)

// StartRun stores a run and dispatches it. ID and CreatedAt are filled in where
// they are empty. created is false if the idempotency key named an earlier run.
func (e *Engine) StartRun(ctx context.Context, n NewRun) (run Run, created bool, err error) {
	if n.ID == "" {
		n.ID = e.cfg.NewID()
	}
	if n.CreatedAt.IsZero() {
		n.CreatedAt = e.now()
	}
	n.Status = RunQueued
	run, created, err = e.cfg.Store.CreateRun(ctx, n)
	if err != nil {
		return Run{}, false, fmt.Errorf("create run: %w", err)
	}
	e.Dispatch(run.ID)
	return run, created, nil
}

// AnswerRequest is a person's answer to a parked step.
type AnswerRequest struct {
	AccountID string
	ParkID    string
	By        Actor
	Outcome   string
	Comment   string
	Data      json.RawMessage
}

// Answer decides a park and lets the run go on. A wrong payload is an
// *InvalidError and leaves the park open.
func (e *Engine) Answer(ctx context.Context, r AnswerRequest) (Answered, error) {
	at := e.now()
	a := Answer{
		AccountID: r.AccountID, ParkID: r.ParkID, By: r.By, Outcome: r.Outcome, Comment: r.Comment, Data: r.Data, At: at,
		Resolve: func(p Park) (Resolution, error) { return e.resolution(p, r, at) },
	}
	out, err := e.cfg.Store.Answer(ctx, a)
	if err != nil {
		return Answered{}, fmt.Errorf("answer %s: %w", r.ParkID, err)
	}
	if out.Repeated {
		return out, nil
	}
	sp := RecordSpan(&out.Record, parentOf(out.Record.Address), e.nodeTitle(ctx, out.Run.DefinitionHash, out.Record.NodeID))
	sp.RunID, sp.Seq = out.Run.ID, out.Run.SpanSeq
	if raw, err := expr.Encode(map[string]any{"outcome": out.Decision.Outcome, "comment": out.Decision.Comment, "by": out.Decision.By, "at": out.Decision.At}); err == nil {
		sp.Attributes["decision"] = raw
	}
	e.cfg.Tracer.Record(out.Run.AccountID, []Span{sp})
	e.Dispatch(out.Run.ID)
	return out, nil
}

func (e *Engine) nodeTitle(ctx context.Context, hash, nodeID string) string {
	p, err := e.program(ctx, hash)
	if err != nil {
		return nodeID
	}
	if n, ok := p.ByID[nodeID]; ok {
		return p.Nodes[n].Node.Title()
	}
	return nodeID
}

// parentOf is the span that the step at an address hangs under.
func parentOf(address string) string {
	for i := len(address) - 1; i >= 0; i-- {
		if address[i] == '/' {
			return address[:i]
		}
	}
	return RootSpanID
}

// maxComment bounds a decision's comment, in bytes.
const maxComment = 64 << 10

// resolution checks an answer against its park and makes the step's result of it.
func (e *Engine) resolution(p Park, r AnswerRequest, at time.Time) (Resolution, error) {
	var chosen *Outcome
	for i := range p.Outcomes {
		if p.Outcomes[i].ID == r.Outcome {
			chosen = &p.Outcomes[i]
		}
	}
	switch {
	case chosen == nil:
		return Resolution{}, invalid("outcome", fmt.Sprintf("%q is not one of the outcomes of this approval: %s", r.Outcome, outcomeIDs(p.Outcomes)))
	case chosen.RequireComment && r.Comment == "":
		return Resolution{}, invalid("comment", fmt.Sprintf("%q needs a comment", chosen.Label))
	case len(r.Comment) > maxComment:
		return Resolution{}, invalid("comment", fmt.Sprintf("the comment has %d bytes; at most %d are kept", len(r.Comment), maxComment))
	}
	if err := e.checkData(p, r.Data); err != nil {
		return Resolution{}, err
	}
	if p.Kind == ParkInterrupt {
		if r.Outcome == outcomeRunAgain {
			return Resolution{Outcome: r.Outcome, Again: true}, nil
		}
		return Resolution{Outcome: r.Outcome, Output: rawOr(r.Data, "null")}, nil
	}
	if chosen.Rejects {
		msg := "rejected by " + r.By.Name
		if r.Comment != "" {
			msg += ": " + r.Comment
		}
		return Resolution{Outcome: r.Outcome, Error: &StepError{Code: CodeRejected, Message: msg}}, nil
	}
	data := r.Data
	if len(data) == 0 && p.Approval != nil {
		data = p.Approval.Content
	}
	output, err := approvalOutput(r, data, at)
	if err != nil {
		return Resolution{}, err
	}
	return Resolution{Outcome: r.Outcome, Handle: r.Outcome, Output: output}, nil
}

func outcomeIDs(outcomes []Outcome) string {
	ids := make([]string, len(outcomes))
	for i, o := range outcomes {
		ids[i] = o.ID
	}
	return strings.Join(ids, ", ")
}

func approvalOutput(r AnswerRequest, data json.RawMessage, at time.Time) (json.RawMessage, error) {
	by := expr.NewObject()
	by.Set("id", r.By.ID)
	by.Set("name", r.By.Name)
	o := expr.NewObject()
	o.Set("outcome", r.Outcome)
	o.Set("comment", r.Comment)
	o.Set("decided_by", by)
	o.Set("decided_at", at.Format(time.RFC3339Nano))
	o.Set("data", rawOr(data, "null"))
	return expr.Encode(o)
}

// checkData holds an answer's data against the approval's schema.
func (e *Engine) checkData(p Park, data json.RawMessage) error {
	if len(data) == 0 || string(data) == "null" {
		return nil
	}
	if !json.Valid(data) {
		return invalid("data", "data is not JSON")
	}
	if p.Approval == nil || len(p.Approval.Schema) == 0 {
		return nil
	}
	problems, err := e.cfg.Registry.Schemas().Check(p.Approval.Schema, data, false)
	if err != nil {
		return fmt.Errorf("check data of %s: %w", p.ID, err)
	}
	if len(problems) == 0 {
		return nil
	}
	bad := &InvalidError{Message: "the data does not fit what this approval asks for"}
	for _, pr := range problems {
		field := "data"
		if pr.Path != "" {
			field += "." + pr.Path
		}
		bad.Issues = append(bad.Issues, Issue{Code: "data", Severity: SeverityError, Field: field, Message: pr.Message})
	}
	return bad
}

func invalid(field, message string) error {
	return &InvalidError{Message: message, Issues: Issues{{Code: "invalid", Severity: SeverityError, Field: field, Message: message}}}
}

// Cancel ends a run in whatever state it is. A run that was cancelled before is
// returned as it is; one that ended otherwise is a *ConflictError.
func (e *Engine) Cancel(ctx context.Context, accountID, runID string, by Actor, reason string) (Run, error) {
	c, err := e.cfg.Store.Cancel(ctx, Cancellation{AccountID: accountID, RunID: runID, By: by, Reason: reason, At: e.now()})
	if err != nil {
		return Run{}, fmt.Errorf("cancel run %s: %w", runID, err)
	}
	if !c.Changed {
		return c.Run, nil
	}
	seq := c.Run.SpanSeq - int64(len(c.Records))
	spans := make([]Span, 0, len(c.Records)+1)
	for i := range c.Records {
		r := &c.Records[i]
		sp := RecordSpan(r, parentOf(r.Address), e.nodeTitle(ctx, c.Run.DefinitionHash, r.NodeID))
		sp.RunID, sp.Seq = runID, seq
		seq++
		spans = append(spans, sp)
	}
	root := RunSpan(c.Run, "")
	root.Seq = seq
	e.cfg.Tracer.Record(accountID, append(spans, root))
	e.cfg.Tracer.RunEnded(accountID, c.Run)
	e.announce(c.Run)
	e.nudge(runID)
	return c.Run, nil
}

// nudge makes a segment in this process look at its run; it stops if it has lost it.
func (e *Engine) nudge(runID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t := e.timers[runID]; t != nil {
		t.Stop()
		delete(e.timers, runID)
	}
	if a := e.active[runID]; a != nil {
		select {
		case a.nudge <- struct{}{}:
		default:
		}
	}
}

// Changed tells the engine that another server has changed a run: a segment that it
// has here looks at it, and so does who awaits it. No segment is made.
func (e *Engine) Changed(runID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a := e.active[runID]; a != nil {
		select {
		case a.nudge <- struct{}{}:
		default:
		}
	}
	for _, ch := range e.waiters[runID] {
		select {
		case ch <- Run{}:
		default:
		}
	}
}

// Retry runs a failed, rejected or cancelled run again from the steps that did not
// succeed. Steps that did keep their outputs and do not run again.
func (e *Engine) Retry(ctx context.Context, accountID, runID string, _ Actor) (Run, error) {
	run, err := e.cfg.Store.Restart(ctx, accountID, runID, func(snap Snapshot) (Reset, error) {
		switch snap.Run.Status {
		case RunFailed, RunRejected, RunCancelled:
		case RunSucceeded:
			return Reset{}, &ConflictError{Message: "the run has succeeded; start it again instead"}
		case RunPendingApproval:
			return Reset{}, &ConflictError{Message: "the run is waiting for approval"}
		default:
			return Reset{}, &ConflictError{Message: "the run is " + string(snap.Run.Status)}
		}
		prog, err := e.program(ctx, snap.Run.DefinitionHash)
		if err != nil {
			return Reset{}, err
		}
		return resetFailed(prog, snap), nil
	})
	if err != nil {
		return Run{}, fmt.Errorf("retry run %s: %w", runID, err)
	}
	e.announce(run)
	e.Dispatch(run.ID)
	return run, nil
}

// ForkRequest asks for a new run that begins at a step of an earlier one.
type ForkRequest struct {
	AccountID string
	RunID     string
	// From is the address of the first step that runs again; empty runs all.
	From string
	// Input replaces the run's input if set.
	Input json.RawMessage
	By    Actor
}

// Fork starts a new run on the same version with the outputs of everything that
// does not depend on the step From. *InvalidError if From names no step of the run.
func (e *Engine) Fork(ctx context.Context, r ForkRequest) (Run, error) {
	snap, err := e.cfg.Store.Load(ctx, r.AccountID, r.RunID)
	if err != nil {
		return Run{}, fmt.Errorf("fork run %s: %w", r.RunID, err)
	}
	prog, err := e.program(ctx, snap.Run.DefinitionHash)
	if err != nil {
		return Run{}, fmt.Errorf("fork run %s: %w", r.RunID, err)
	}
	n := NewRun{Run: Run{
		AccountID: r.AccountID, WorkflowID: snap.Run.WorkflowID, VersionID: snap.Run.VersionID,
		DefinitionHash: snap.Run.DefinitionHash, Input: snap.Run.Input, Variables: snap.Run.Variables,
		StartedBy: r.By, ParentRunID: r.RunID, ParentAddress: r.From,
	}}
	if len(r.Input) > 0 {
		n.Input = r.Input
	}
	if r.From != "" {
		if n.Records, err = forkRecords(prog, snap, r.From); err != nil {
			return Run{}, err
		}
	}
	run, _, err := e.StartRun(ctx, n)
	return run, err
}

// Await blocks until the run is over or waits for a person, or ctx ends; then it
// returns the run as it is.
func (e *Engine) Await(ctx context.Context, accountID, runID string) (Run, error) {
	ch := make(chan Run, 1)
	here := e.listen(runID, ch)
	defer e.forget(runID, ch)
	// A run that another server works is only seen in the store.
	poll := time.NewTicker(time.Second)
	defer poll.Stop()
	for {
		var snap Snapshot
		if !here {
			var err error
			if snap, err = e.cfg.Store.Load(context.WithoutCancel(ctx), accountID, runID); err != nil {
				return Run{}, fmt.Errorf("await run %s: %w", runID, err)
			}
			if settled(snap.Run.Status) {
				return snap.Run, nil
			}
		}
		select {
		case run := <-ch:
			if run.AccountID == accountID && settled(run.Status) {
				return run, nil
			}
			here = false
		case <-poll.C:
			here = e.hasRun(runID)
		case <-ctx.Done():
			if !here {
				return snap.Run, nil
			}
			here = false
		}
	}
}

// hasRun reports whether the run is worked in this process, or about to be.
func (e *Engine) hasRun(runID string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.active[runID] != nil || e.queued[runID]
}

// listen has the run's next announcements sent to ch. It reports whether the run is
// worked in this process, so that one will come; what was announced since its claim
// is sent at once.
func (e *Engine) listen(runID string, ch chan Run) (here bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiters[runID] = append(e.waiters[runID], ch)
	a := e.active[runID]
	if a != nil && a.last != nil {
		ch <- *a.last
	}
	return a != nil || e.queued[runID]
}

// settled leaves out RunWaiting: a run in backoff or before a timer goes on by
// itself.
func settled(s RunStatus) bool { return s.Terminal() || s == RunPendingApproval }

func (e *Engine) forget(runID string, ch chan Run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := e.waiters[runID]
	for i, c := range list {
		if c == ch {
			e.waiters[runID] = append(list[:i], list[i+1:]...)
			break
		}
	}
	if len(e.waiters[runID]) == 0 {
		delete(e.waiters, runID)
	}
}

// announce wakes those who wait for the run.
func (e *Engine) announce(run Run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a := e.active[run.ID]; a != nil {
		a.last = &run
	}
	for _, ch := range e.waiters[run.ID] {
		select {
		case ch <- run:
		default:
		}
	}
}

// CancelMessage is the text of a cancelled run's error, for stores.
func CancelMessage(c Cancellation) string {
	msg := "cancelled"
	if c.By.Name != "" {
		msg += " by " + c.By.Name
	}
	if c.Reason != "" {
		msg += ": " + c.Reason
	}
	return msg
}
