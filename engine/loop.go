package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"sluice/engine/expr"
)

// loopConfig is the rendered config of a loop.
type loopConfig struct {
	Collection    json.RawMessage `json:"collection"`
	While         string          `json:"while"`
	Times         json.RawMessage `json:"times"`
	Concurrency   int             `json:"concurrency"`
	MaxIterations int             `json:"max_iterations"`
	OnItemError   OnError         `json:"on_item_error"`
}

// decision is what a loop fixes when it starts (and, for while, at each
// iteration), so that a resumed run iterates over the same.
type decision struct {
	Items json.RawMessage `json:"items,omitempty"`
	Times *int            `json:"times,omitempty"`
	// While counts the iterations opened; Ended tells that the condition was false.
	While *int `json:"while,omitempty"`
	Ended bool `json:"ended,omitempty"`
}

// decideLoop reads what a loop iterates over from its rendered config.
func (s *state) decideLoop(st *step, config json.RawMessage) (decision, error) {
	var c loopConfig
	if err := decodeConfig(config, &c); err != nil {
		return decision{}, err
	}
	given := len(c.Collection) > 0 && string(c.Collection) != "null"
	switch {
	case st.node.Exprs["while"] != nil:
		zero := 0
		return decision{While: &zero}, nil
	case len(c.Times) > 0 && string(c.Times) != "null" && !given:
		var n int
		if err := json.Unmarshal(c.Times, &n); err != nil || n < 0 {
			return decision{}, Fatalf(CodeConfig, "times must be a whole number from 0 up, not %s", excerpt(c.Times))
		}
		return decision{Times: &n}, s.checkIterations(c, n)
	}
	v, err := expr.Decode(rawOr(c.Collection, "null"))
	if err != nil {
		return decision{}, Fatal(CodeConfig, fmt.Errorf("read collection: %w", err))
	}
	items, ok := v.([]any)
	if !ok {
		return decision{}, Fatalf(CodeConfig, "collection must be a list, not %s: %s", typeName(v), excerpt(c.Collection))
	}
	return decision{Items: c.Collection}, s.checkIterations(c, len(items))
}

func (s *state) checkIterations(c loopConfig, n int) error {
	limit := s.limits.Iterations
	if c.MaxIterations > 0 && c.MaxIterations < limit {
		limit = c.MaxIterations
	}
	if n > limit {
		return Fatalf(CodeTooLarge, "the loop would run %d times; the limit is %d", n, limit)
	}
	return nil
}

// loadLoop sets up a loop from its stored decision.
func (s *state) loadLoop(st *step, config json.RawMessage) error {
	c := st.box
	if err := decodeConfig(config, &c.loop); err != nil {
		return err
	}
	c.loop.Concurrency = max(1, c.loop.Concurrency)
	var d decision
	if err := json.Unmarshal(st.rec.Decision, &d); err != nil {
		return Fatal(CodeConfig, fmt.Errorf("read the loop's stored decision: %w", err))
	}
	c.seen, c.vars = expr.NewObject(), map[int]*expr.Object{}
	switch {
	case d.While != nil:
		c.count, c.loop.Concurrency = -1, 1
		if d.Ended {
			c.count = *d.While
		}
	case d.Times != nil:
		c.count = *d.Times
	default:
		v, err := expr.Decode(rawOr(d.Items, "[]"))
		if err != nil {
			return Fatal(CodeConfig, fmt.Errorf("read the loop's stored collection: %w", err))
		}
		c.items, _ = v.([]any)
		c.count = len(c.items)
	}
	return nil
}

// advanceLoop opens iterations up to the loop's concurrency, and ends the loop
// when the last is done. A loop that has failed still opens those that an earlier
// segment had reached: what waits in them must be closed.
func (s *state) advanceLoop(st *step) {
	c := st.box
	if c == nil || st.rec.Status.Terminal() || st.node.Spec.Container != Loop {
		return
	}
	stopped := c.failing || st.scope.doomed()
	for len(c.open) < c.loop.Concurrency && (c.count < 0 || c.next < c.count) && (!stopped || s.reached(st, c.next)) {
		if c.count < 0 {
			more, err := s.whileHolds(st)
			if err != nil {
				c.failure, c.failing = asStepError(err), true
				break
			}
			if !more {
				break
			}
		}
		s.openIteration(st)
	}
	if len(c.open) == 0 && (stopped || c.failing || c.next == c.count) {
		s.finishLoop(st)
	}
}

// reached tells whether an earlier segment had opened the iteration.
func (s *state) reached(st *step, i int) bool {
	prefix := iterationAddress(st.address, i)
	for _, n := range s.prog.bodies[st.node.Index].Entries {
		if s.records[joinAddress(prefix, s.prog.Nodes[n].Node.ID)] != nil {
			return true
		}
	}
	return false
}

func (s *state) openIteration(st *step) {
	c := st.box
	i := c.next
	c.next++
	var item any
	if i < len(c.items) {
		item = c.items[i]
	} else {
		item = int64(i)
	}
	c.results = append(c.results, nil)
	prefix := iterationAddress(st.address, i)
	body := s.prog.bodies[st.node.Index]
	known := s.reached(st, i)
	c.open[i] = s.openScope(st, body, prefix, i, item)
	if !known {
		s.iterationSpan(st, c.open[i], string(StepRunning))
	}
}

// whileHolds decides whether a while loop has another iteration, and stores the
// decision with the loop's record.
func (s *state) whileHolds(st *step) (bool, error) {
	c := st.box
	var d decision
	if err := json.Unmarshal(st.rec.Decision, &d); err != nil || d.While == nil {
		return false, Fatalf(CodeConfig, "read the loop's stored decision: %v", err)
	}
	if c.next < *d.While {
		return true, nil
	}
	more, err := st.node.Exprs["while"].EvalBool(context.Background(), s.loopEnv(st))
	if err != nil {
		return false, Fatal(CodeTemplate, fmt.Errorf("while: %w", err))
	}
	if more {
		if err := s.checkIterations(c.loop, c.next+1); err != nil {
			return false, err
		}
		*d.While = c.next + 1
	} else {
		d.Ended, c.count = true, c.next
	}
	st.rec.Decision, _ = json.Marshal(d) //nolint:errchkjson // fixed shape
	s.touch(st.rec)
	return more, nil
}

// iterationDone takes in a finished iteration.
func (s *state) iterationDone(sc *scope) {
	st := sc.owner
	c := st.box
	delete(c.open, sc.index)
	c.finished++
	status := StepSucceeded
	if sc.failure != nil {
		status = StepFailed
		c.failed++
		c.results[sc.index] = errorOutput(sc.failure)
		if c.loop.OnItemError != OnErrorContinue && c.failure == nil {
			c.failing = true
			c.failure = &StepError{Code: nestedCode(sc.failure.Code), Address: sc.failure.Address, Message: fmt.Sprintf("item %d: %s", sc.index, sc.failure.Message)}
			for _, other := range c.scopes() {
				s.windUp(other)
			}
		}
	} else {
		c.results[sc.index] = s.bodyOutput(sc)
		s.collectVars(st, sc)
	}
	if sc.changed {
		s.iterationSpan(st, sc, string(status))
	}
	s.queue = append(s.queue, task{kind: taskContinue, step: st})
}

// collectVars keeps what an iteration assigned.
func (s *state) collectVars(st *step, sc *scope) {
	if !sc.body.HasVarWriters {
		return
	}
	written := s.written(sc)
	if written.Len() == 0 {
		return
	}
	c := st.box
	c.vars[sc.index] = written
	if c.loop.Concurrency == 1 {
		merge(c.seen, written)
	}
}

// finishLoop settles a loop whose iterations are over.
func (s *state) finishLoop(st *step) {
	c := st.box
	switch {
	case c.failure != nil:
		s.fail(st, c.failure)
		return
	case st.scope.doomed():
		s.close(st, StepCancelled)
		return
	}
	buf := append(make([]byte, 0, 64), `{"results":[`...)
	for i, r := range c.results {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, rawOr(r, "null")...)
	}
	buf = append(buf, fmt.Sprintf(`],"count":%d,"failed":%d}`, len(c.results), c.failed)...)
	merged := expr.NewObject()
	for i := range c.results {
		if v := c.vars[i]; v != nil {
			merge(merged, v)
		}
	}
	s.succeedContainer(st, buf, merged)
}
