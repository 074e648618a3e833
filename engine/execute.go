package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"sluice/engine/expr"
)

// render resolves the templates of a step's config.
func (s *state) render(st *step) (json.RawMessage, error) {
	if st.node.Config == nil {
		return json.RawMessage("{}"), nil
	}
	raw, err := st.node.Config.Render(context.Background(), s.env(st, false))
	if err != nil {
		return nil, &StepError{Code: CodeTemplate, Message: err.Error()}
	}
	return raw, nil
}

// attempt is one try of a step's kind, made ready by the state's owner and safe to
// run elsewhere.
type attempt struct {
	kind    Kind
	input   Input
	timeout time.Duration
	notes   *notes
}

// notes collects what a kind traces; a kind may trace from several goroutines.
type notes struct {
	mu     sync.Mutex
	values spanAttributes
	closed bool
}

func (n *notes) set(key string, value any) {
	raw, err := expr.Encode(value)
	if err != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	if n.values == nil {
		n.values = spanAttributes{}
	}
	n.values[key] = raw
}

// take ends the collection: what a given-up attempt traces later is dropped.
func (n *notes) take() spanAttributes {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	return n.values
}

// newAttempt prepares the attempt that the step's record counts.
func (s *state) newAttempt(st *step, config json.RawMessage, env expr.Env) attempt {
	n := &notes{}
	return attempt{
		kind: st.node.Kind, timeout: st.node.Timeout, notes: n,
		input: Input{
			RunID: s.run.ID, AccountID: s.run.AccountID, NodeID: st.node.Node.ID, Address: st.address,
			Round: st.rec.Round, Attempt: st.rec.Attempt, IdempotencyKey: s.idempotencyKey(st), Config: config, Env: env,
			Expr:      func(field string) *expr.Expression { return st.node.Exprs[field] },
			RunInput:  s.run.Input,
			Variables: s.run.Variables,
			Emit:      func(string) {},
			Trace:     n.set,
			Now:       s.host.now,
		},
	}
}

// run calls the kind and turns a panic into an error.
func (a *attempt) run(ctx context.Context) (out Output, err error) {
	defer func() {
		if p := recover(); p != nil {
			out = Output{}
			err = Fatalf(CodePanic, "the step's code panicked: %v\n%s", p, firstLines(debug.Stack(), 2_000))
		}
	}()
	return a.kind.Execute(ctx, a.input)
}

func firstLines(b []byte, limit int) []byte {
	if len(b) > limit {
		return b[:limit]
	}
	return b
}

// verdict is what the retry policy makes of an attempt's error.
type verdict struct {
	err   *StepError
	retry bool
	after time.Duration
}

// judge classifies an attempt's error. Unknown errors are retried: most are the
// network's.
func judge(ctx context.Context, err error, timeout time.Duration) verdict {
	var b *behaviour
	var missing *expr.MissingError
	var se *StepError
	switch {
	case errors.As(err, &b):
		v := verdict{err: &StepError{Code: b.code, Message: b.Error()}, retry: !b.fatal, after: b.after}
		if v.err.Code == "" {
			v.err.Code = CodeFailed
		}
		return v
	case errors.As(err, &missing):
		return verdict{err: &StepError{Code: CodeTemplate, Message: err.Error()}}
	case errors.As(err, &se):
		return verdict{err: se}
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return verdict{err: &StepError{Code: CodeTimeout, Message: fmt.Sprintf("no result within %s", timeout)}, retry: true}
	default:
		return verdict{err: &StepError{Code: CodeFailed, Message: err.Error()}, retry: true}
	}
}

// begunAttempt counts a new attempt on the step's record.
func (s *state) begunAttempt(st *step, config json.RawMessage) {
	s.count(st, config)
	s.touch(st.rec)
}

// count is begunAttempt without asking for the record to be stored.
func (s *state) count(st *step, config json.RawMessage) {
	rec := s.record(st)
	rec.Attempt++
	rec.Status, rec.Input, rec.NextAttemptAt, rec.Error = StepRunning, config, zeroTime, nil
}

// attemptFailed retries by policy, or fails the step.
func (s *state) attemptFailed(st *step, v verdict) {
	rec := st.rec
	policy := st.node.Retry
	if !v.retry || rec.Attempt >= policy.MaxAttempts {
		s.fail(st, v.err)
		return
	}
	if st.scope.doomed() {
		rec.Error = v.err
		s.close(st, StepCancelled)
		return
	}
	wait := max(v.after, s.host.backoff(policy, rec.Attempt))
	e := *v.err
	e.Attempts = rec.Attempt
	rec.Status, rec.Error, rec.NextAttemptAt = StepRetrying, &e, s.host.now().Add(wait)
	st.flying = false
	st.token++
	s.timers.add(st, rec.NextAttemptAt)
	s.touch(rec)
	s.spanOf(st)
}

// park puts a step to sleep.
func (s *state) park(st *step, p *Park) {
	rec := s.record(st)
	park := *p
	park.ID, park.RunID, park.Address, park.Round = s.host.newID(), s.run.ID, st.address, rec.Round
	park.NodeID, park.OpenedAt = st.node.Node.ID, s.host.now()
	park.Outcomes = s.markRejections(st, p.Outcomes)
	park.OnWake = rejectUnhandled(park.OnWake, park.Outcomes)
	if !park.WakeAt.IsZero() && park.OnWake == nil {
		s.fail(st, &StepError{Code: CodeFailed, Message: "the step waits until a time but does not say what happens then"})
		return
	}
	rec.Status, rec.ParkID, rec.Attempt = StepParked, park.ID, max(1, rec.Attempt)
	st.flying = false
	st.token++
	s.parks[park.ID], s.parkSteps[park.ID] = &park, st
	s.openParks = append(s.openParks, park)
	s.countPark(park.Kind, 1)
	if !park.WakeAt.IsZero() {
		s.timers.add(st, park.WakeAt)
	}
	s.touch(rec)
	s.spanOf(st)
}

// markRejections notes which refusals no edge handles.
func (s *state) markRejections(st *step, outcomes []Outcome) []Outcome {
	out := make([]Outcome, len(outcomes))
	for i, o := range outcomes {
		o.Rejects = o.Refusal && !s.handled(st, o.ID)
		out[i] = o
	}
	return out
}

// rejectUnhandled makes a wait that ends in a refusal which no edge handles fail
// like the same refusal by a person.
func rejectUnhandled(r *Resolution, outcomes []Outcome) *Resolution {
	if r == nil || r.Error != nil {
		return r
	}
	for _, o := range outcomes {
		if o.Rejects && o.ID == r.Outcome {
			return &Resolution{Outcome: r.Outcome, Error: &StepError{Code: CodeRejected, Message: "rejected: nobody answered in time"}}
		}
	}
	return r
}

func (s *state) handled(st *step, handle string) bool {
	for _, i := range st.node.Out {
		if h := s.prog.Edges[i].Handle; h == handle || h == HandleAny {
			return true
		}
	}
	return false
}

// unpark goes on from a park that was answered or whose time came: rec is the
// step's record as it was committed.
func (s *state) unpark(st *step, rec *Record) {
	if p := s.parks[st.rec.ParkID]; p != nil {
		s.countPark(p.Kind, -1)
		delete(s.parks, p.ID)
	}
	delete(s.parkSteps, st.rec.ParkID)
	st.rec = rec
	st.parsed, st.value = false, nil
	switch {
	case rec.Status.Terminal():
		st.scope.changed = true
		s.settle(st)
	case rec.Status == StepRetrying:
		s.timers.add(st, rec.NextAttemptAt)
	}
}

// ApplyResolution turns a park's resolution into the record's state, for stores.
func ApplyResolution(rec *Record, r Resolution, at time.Time) {
	switch {
	case r.Again:
		rec.Status, rec.NextAttemptAt = StepRetrying, at
	case r.Error != nil:
		e := *r.Error
		e.Attempts = rec.Attempt
		rec.Status, rec.Error, rec.EndedAt = StepFailed, &e, at
	default:
		rec.Status, rec.Output, rec.Handle, rec.EndedAt, rec.Error = StepSucceeded, rawOr(r.Output, "null"), r.Handle, at, nil
	}
}
