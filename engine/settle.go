package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"sluice/engine/expr"
)

// succeed settles a step with its output.
func (s *state) succeed(st *step, out Output) {
	if out.Value == nil && st.node.Spec.Type == "end" {
		out.Value = s.before(st)
	}
	raw, err := encodeOutput(out.Value)
	if err != nil {
		s.fail(st, &StepError{Code: CodeFailed, Message: "the output is not JSON: " + err.Error()})
		return
	}
	if e := s.admit(raw); e != nil {
		s.fail(st, e)
		return
	}
	rec := s.record(st)
	if len(out.Variables) > 0 {
		vars, err := encodeOutput(out.Variables)
		if err != nil {
			s.fail(st, &StepError{Code: CodeFailed, Message: "a variable is not JSON: " + err.Error()})
			return
		}
		rec.Variables = vars
	}
	rec.Status, rec.Output, rec.Handle, rec.Error = StepSucceeded, raw, out.Handle, nil
	if rec.Handle == "" {
		rec.Handle = st.node.Default
	}
	if out.Warning != "" {
		rec.Warning = out.Warning
	}
	s.finish(st)
}

func encodeOutput(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok && len(raw) > 0 && json.Valid(raw) {
		return raw, nil
	}
	return expr.Encode(v)
}

// admit counts an output against the limits.
func (s *state) admit(raw json.RawMessage) *StepError {
	n := int64(len(raw))
	if n > s.limits.OutputBytes {
		return &StepError{Code: CodeTooLarge, Message: fmt.Sprintf("the output has %d bytes; the limit of a step is %d", n, s.limits.OutputBytes)}
	}
	if s.bytes+n > s.limits.RunBytes {
		return &StepError{Code: CodeTooLarge, Message: fmt.Sprintf("the outputs of this run exceed %d bytes", s.limits.RunBytes)}
	}
	s.bytes += n
	return nil
}

// fail settles a step with an error, after its attempts are used up.
func (s *state) fail(st *step, e *StepError) {
	rec := s.record(st)
	if e.Attempts == 0 {
		e.Attempts = rec.Attempt
	}
	rec.Status, rec.Error, rec.Handle = StepFailed, e, ""
	if goesOn(st, e) {
		rec.Output = errorOutput(e)
	}
	s.finish(st)
}

// goesOn reports whether the step's policy lets the scope continue after the
// error. A refusal by a person is never waved through.
func goesOn(st *step, e *StepError) bool {
	if e.Code == CodeRejected && st.node.Spec.Class == Parking {
		return false
	}
	return st.node.OnError == OnErrorContinue || st.node.OnError == OnErrorBranch
}

// stops reports whether a settled step keeps its scope from going on: it failed, or
// it succeeded and the way on from it can't be told.
func stops(st *step) bool {
	rec := st.rec
	return rec.Error != nil && (rec.Status == StepFailed || rec.Status == StepSucceeded) && !goesOn(st, rec.Error)
}

// close settles a step that did not run to its end, as skipped or cancelled.
func (s *state) close(st *step, status StepStatus) {
	rec := s.record(st)
	if rec.Status == StepParked {
		if p := s.parks[rec.ParkID]; p != nil {
			s.closeParks = append(s.closeParks, ParkClose{ID: p.ID, Status: "cancelled", Reason: "the run went on without this answer"})
			s.countPark(p.Kind, -1)
			delete(s.parks, p.ID)
			delete(s.parkSteps, p.ID)
		}
	}
	rec.Status = status
	if status == StepSkipped {
		rec.EndedAt = rec.StartedAt
	}
	rec.Taken = []int{}
	s.finish(st)
}

// finish stamps a terminal record and lets the graph go on from it.
func (s *state) finish(st *step) {
	rec := st.rec
	if rec.EndedAt.IsZero() {
		rec.EndedAt = s.host.now()
	}
	rec.NextAttemptAt = zeroTime
	st.flying = false
	st.token++
	st.parsed, st.value = false, nil
	s.touch(rec)
	st.scope.changed = true
	s.settle(st)
	s.spanOf(st)
}

// settle decides the out-edges of a terminal step, once, and passes the news on.
func (s *state) settle(st *step) {
	rec := st.rec
	if rec.Taken == nil {
		s.decide(st)
		s.touch(rec)
	}
	sc := st.scope
	for _, i := range st.node.Out {
		t := &sc.steps[s.prog.pos[s.prog.Edges[i].Target]]
		t.open--
		if slices.Contains(rec.Taken, i) {
			t.taken++
		}
		if t.open > 0 || t.begun {
			continue
		}
		if t.taken > 0 {
			s.queue = append(s.queue, task{kind: taskBegin, step: t})
		} else {
			s.queue = append(s.queue, task{kind: taskSkip, step: t})
		}
	}
	if stops(st) && st.node.Spec.Container != Branch {
		s.failScope(sc, st)
	}
	sc.pending--
	if sc.pending == 0 {
		s.queue = append(s.queue, task{kind: taskScopeDone, scope: sc})
	}
}

// decide chooses the edges that a terminal step takes. An edge condition that
// can't be evaluated leaves the step succeeded, since what it did is done, but the
// scope fails; a retry asks the conditions again.
func (s *state) decide(st *step) {
	rec := st.rec
	rec.Taken = []int{}
	switch rec.Status {
	case StepSucceeded:
		if err := s.takeEdges(st, func(e *PlanEdge) bool { return e.Handle == rec.Handle || e.Handle == HandleAny }); err != nil {
			rec.Taken = []int{}
			rec.Error = &StepError{Code: CodeTemplate, Message: err.Error(), Attempts: rec.Attempt}
			if goesOn(st, rec.Error) {
				s.takeErrorEdges(st)
			}
		}
	case StepFailed:
		if goesOn(st, rec.Error) {
			if len(rec.Output) == 0 {
				rec.Output = errorOutput(rec.Error)
			}
			s.takeErrorEdges(st)
		}
	default: // skipped and cancelled steps take nothing
	}
	if rec.Status == StepSucceeded && rec.Error == nil && len(rec.Taken) == 0 && s.conditional(st) {
		rec.Warning = "no outgoing edge matched; the steps after this one were skipped"
	}
}

// takeErrorEdges takes the edges of the error handle. Under "continue" a step
// without any takes its default edges instead.
func (s *state) takeErrorEdges(st *step) {
	if err := s.takeEdges(st, func(e *PlanEdge) bool { return e.Handle == HandleError }); err != nil {
		st.rec.Warning = err.Error()
	}
	if len(st.rec.Taken) > 0 || st.node.OnError == OnErrorBranch {
		return
	}
	err := s.takeEdges(st, func(e *PlanEdge) bool { return e.Handle == st.node.Default || e.Handle == HandleAny })
	if err != nil {
		st.rec.Warning = err.Error()
	}
}

func (s *state) takeEdges(st *step, chosen func(*PlanEdge) bool) error {
	for _, i := range st.node.Out {
		e := &s.prog.Edges[i]
		if !chosen(e) {
			continue
		}
		if e.Condition != nil {
			ok, err := e.Condition.EvalBool(context.Background(), s.env(st, true))
			if err != nil {
				return fmt.Errorf("condition of the edge to %q: %w", s.prog.Nodes[e.Target].Node.ID, err)
			}
			if !ok {
				continue
			}
		}
		st.rec.Taken = append(st.rec.Taken, i)
	}
	return nil
}

// conditional tells whether the step has edges that might not be taken.
func (s *state) conditional(st *step) bool {
	for _, i := range st.node.Out {
		if e := &s.prog.Edges[i]; e.Condition != nil || len(st.node.Handles) > 1 {
			return st.node.Spec.Class != Parking
		}
	}
	return false
}

// failScope records the first failure of a scope and winds up what waits in it.
// Steps that are being worked may finish; nothing new starts.
func (s *state) failScope(sc *scope, st *step) {
	if sc.failure != nil {
		return
	}
	e := *st.rec.Error
	if e.Address == "" {
		e.Address = st.address
	}
	sc.failure = &e
	s.windUp(sc)
}

// windUp cancels the waiting steps of a scope and of the scopes inside it.
func (s *state) windUp(sc *scope) {
	for i := range sc.steps {
		st := &sc.steps[i]
		if !st.begun || st.rec == nil || st.rec.Status.Terminal() {
			continue
		}
		switch {
		case st.box != nil:
			for _, inner := range st.box.scopes() {
				s.windUp(inner)
			}
			s.queue = append(s.queue, task{kind: taskContinue, step: st})
		case st.rec.Status == StepParked, st.rec.Status == StepRetrying:
			s.close(st, StepCancelled)
		}
	}
}

// scopeDone hands a finished scope to its owner.
func (s *state) scopeDone(sc *scope) {
	if sc.owner == nil {
		s.done = true
		return
	}
	switch sc.owner.node.Spec.Container {
	case Loop:
		s.iterationDone(sc)
	case Parallel:
		s.parallelDone(sc)
	case Branch:
		s.branchDone(sc)
	}
}

// bodyOutput is the output of a finished scope: its sinks that ran; exactly one
// gives its own output, several an object by node id, none null.
func (s *state) bodyOutput(sc *scope) json.RawMessage {
	return joinOutputs(s.ran(sc, sc.body.Sinks))
}

// ran lists the succeeded (or failed and continued) steps among nodes.
func (s *state) ran(sc *scope, nodes []int) []*step {
	var out []*step
	for _, n := range nodes {
		st := &sc.steps[s.prog.pos[n]]
		if st.rec != nil && len(st.rec.Output) > 0 && (st.rec.Status == StepSucceeded || st.rec.Status == StepFailed) {
			out = append(out, st)
		}
	}
	return out
}

// before is what came into a step: the outputs of the sources of its taken edges.
func (s *state) before(st *step) json.RawMessage {
	var from []int
	for _, i := range st.node.In {
		e := &s.prog.Edges[i]
		source := &st.scope.steps[s.prog.pos[e.Source]]
		if source.rec != nil && slices.Contains(source.rec.Taken, i) && !slices.Contains(from, e.Source) {
			from = append(from, e.Source)
		}
	}
	return joinOutputs(s.ran(st.scope, from))
}

func joinOutputs(steps []*step) json.RawMessage {
	switch len(steps) {
	case 0:
		return json.RawMessage("null")
	case 1:
		return steps[0].rec.Output
	}
	buf := []byte{'{'}
	for i, st := range steps {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, quote(st.node.Node.ID)...)
		buf = append(buf, ':')
		buf = append(buf, st.rec.Output...)
	}
	return append(buf, '}')
}

// runOutput is the run's output: that of its end nodes, or of its sinks where it
// has no end node.
func (s *state) runOutput() json.RawMessage {
	var ends []int
	for _, n := range s.root.body.Nodes {
		if s.prog.Nodes[n].Spec.Type == "end" {
			ends = append(ends, n)
		}
	}
	if len(ends) == 0 {
		return s.bodyOutput(s.root)
	}
	return joinOutputs(s.ran(s.root, ends))
}

func quote(id string) []byte {
	b, err := expr.Encode(id)
	if err != nil {
		return []byte(`""`)
	}
	return b
}
