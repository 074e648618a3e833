package engine

import (
	"encoding/json"
	"slices"
	"strconv"

	"sluice/engine/expr"
)

// spanRef is a change of a span that waits for its commit. Sequence numbers are
// given out by the commit.
type spanRef struct{ span Span }

// spanAttributes is what one attempt's kind traced.
type spanAttributes map[string]json.RawMessage

func (s *state) putSpan(sp Span) {
	sp.RunID = s.run.ID
	if i, ok := s.spanSet[sp.ID]; ok {
		s.spans[i].span = sp
		return
	}
	s.spanSet[sp.ID] = len(s.spans)
	s.spans = append(s.spans, spanRef{sp})
}

// stepSpanID is the id of a step's span.
func stepSpanID(address string, round int) string {
	if round == 0 {
		return address
	}
	return address + "#" + strconv.Itoa(round)
}

// parentSpanID is the span that a scope's steps hang under.
func (sc *scope) parentSpanID() string {
	if sc.owner == nil {
		return RootSpanID
	}
	if sc.index >= 0 {
		return sc.prefix
	}
	return stepSpanID(sc.owner.rec.Address, sc.owner.rec.Round)
}

// RecordSpan is the step span of a record. Parent and name come from its node.
func RecordSpan(rec *Record, parent, name string) Span {
	sp := Span{
		ID: stepSpanID(rec.Address, rec.Round), ParentID: parent, Kind: SpanStep, Name: name,
		NodeID: rec.NodeID, NodeType: rec.Type, Address: rec.Address, Round: rec.Round, Attempt: rec.Attempt,
		Status: string(rec.Status), Start: rec.StartedAt, End: rec.EndedAt, Input: rec.Input, Output: rec.Output,
		Error: rec.Error, Usage: rec.Usage, Attributes: map[string]json.RawMessage{},
	}
	set := func(key string, v any) {
		if b, err := json.Marshal(v); err == nil {
			sp.Attributes[key] = b
		}
	}
	if rec.Handle != "" {
		set("handle", rec.Handle)
	}
	if rec.Warning != "" {
		set("warning", rec.Warning)
	}
	if !rec.NextAttemptAt.IsZero() {
		set("next_attempt_at", rec.NextAttemptAt)
	}
	if rec.ParkID != "" {
		set("park_id", rec.ParkID)
	}
	return sp
}

// spanOf queues the step's span as its record now stands.
func (s *state) spanOf(st *step) {
	sp := RecordSpan(st.rec, st.scope.parentSpanID(), st.node.Node.Title())
	if p := s.parks[st.rec.ParkID]; p != nil && st.rec.Status == StepParked {
		sp.Attributes["park"], _ = json.Marshal(map[string]any{"id": p.ID, "kind": p.Kind, "wake_at": p.WakeAt, "approval": p.Approval}) //nolint:errchkjson // fixed shape
	}
	if sp.Attributes["taken"] = s.takenEdges(st); sp.Attributes["taken"] == nil {
		delete(sp.Attributes, "taken")
	}
	s.putSpan(sp)
}

// takenEdges lists the edges that a settled step took, by their places in the
// definition, where that can't be told from its handle: an edge's own condition
// decides. It is nil otherwise.
func (s *state) takenEdges(st *step) json.RawMessage {
	if st.rec.Taken == nil || !slices.ContainsFunc(st.node.Out, func(i int) bool { return s.prog.Edges[i].Condition != nil }) {
		return nil
	}
	buf := []byte{'['}
	for n, i := range st.rec.Taken {
		if n > 0 {
			buf = append(buf, ',')
		}
		buf = strconv.AppendInt(buf, int64(s.prog.Edges[i].At), 10)
	}
	return append(buf, ']')
}

// maxIterationItem bounds the item that an iteration's span repeats; the loop's own
// input has it whole.
const maxIterationItem = 16 << 10

// iterationSpan queues the span of a loop's iteration.
func (s *state) iterationSpan(st *step, sc *scope, status string) {
	sp := Span{
		ID: sc.prefix, ParentID: stepSpanID(st.rec.Address, st.rec.Round), Kind: SpanIteration,
		Name: strconv.Itoa(sc.index), NodeID: st.node.Node.ID, Address: sc.prefix, Status: status, Start: s.host.now(),
		Attributes: map[string]json.RawMessage{"iteration": json.RawMessage(strconv.Itoa(sc.index))},
	}
	if raw, err := expr.Encode(sc.item); err == nil && len(raw) <= maxIterationItem {
		sp.Input = raw
	}
	if first := sc.firstStart(); !first.IsZero() {
		sp.Start = first
	}
	if status != string(StepRunning) {
		sp.End = s.host.now()
		sp.Error = sc.failure
		if sc.failure == nil {
			sp.Output = s.bodyOutput(sc)
		}
	}
	s.putSpan(sp)
}

// attemptSpan queues the span of one attempt of an effect.
func (s *state) attemptSpan(st *step, sp Span) {
	sp.ID = stepSpanID(st.rec.Address, st.rec.Round) + "@" + strconv.Itoa(sp.Attempt)
	sp.ParentID = stepSpanID(st.rec.Address, st.rec.Round)
	sp.Kind, sp.Name = SpanAttempt, "attempt "+strconv.Itoa(sp.Attempt)
	sp.NodeID, sp.NodeType, sp.Address, sp.Round = st.rec.NodeID, st.rec.Type, st.rec.Address, st.rec.Round
	s.putSpan(sp)
}

// runSpan queues the root span as it is at the start of a segment.
func (s *state) runSpan() {
	sp := RunSpan(*s.run, s.prog.Definition.Name)
	sp.Status = string(RunRunning)
	s.putSpan(sp)
}

// RootSpanID is the id of a run's root span: no address looks like it.
const RootSpanID = "@run"

// RunSpan is a run's root span.
func RunSpan(run Run, name string) Span {
	return Span{
		RunID: run.ID, ID: RootSpanID, Kind: SpanRun, Name: name, Status: string(run.Status), Start: run.StartedAt, End: run.EndedAt,
		Input: run.Input, Output: run.Output, Error: run.Error, Usage: run.Usage,
	}
}
