package engine

import (
	"encoding/json"
	"errors"
	"slices"

	"sluice/engine/expr"
)

// container is the running side of a loop, a parallel or a branch.
type container struct {
	// open are the scopes at work, by iteration; a parallel or branch has one, at 0.
	open map[int]*scope
	// kept is the finished scope of a parallel or branch: later steps may read what
	// is in it.
	kept *scope
	// failing is set when a loop has decided to stop on a failed item.
	failing bool
	failure *StepError

	loop     loopConfig
	items    []any
	count    int // known number of iterations, -1 for while
	next     int // next iteration to open
	finished int
	failed   int
	results  []json.RawMessage
	// vars are what finished iterations assigned, by iteration.
	vars map[int]*expr.Object
	seen *expr.Object // merged, for the next iteration when they run one by one
}

func (c *container) scopes() []*scope {
	out := make([]*scope, 0, len(c.open))
	for _, sc := range c.open {
		out = append(out, sc)
	}
	slices.SortFunc(out, func(a, b *scope) int { return a.index - b.index })
	return out
}

// startContainer opens a container for the first time.
func (s *state) startContainer(st *step) {
	rec := s.record(st)
	rec.Status, rec.Attempt = StepRunning, 1
	config, err := s.render(st)
	if err != nil {
		s.fail(st, asStepError(err))
		return
	}
	if len(config) <= maxKeptConfig {
		rec.Input = config
	}
	if st.node.Spec.Container == Loop {
		d, err := s.decideLoop(st, config)
		if err != nil {
			s.fail(st, asStepError(err))
			return
		}
		rec.Decision, _ = json.Marshal(d) //nolint:errchkjson // fixed shape
	}
	s.touch(rec)
	s.spanOf(st)
	s.openContainer(st, config)
}

// maxKeptConfig is the size up to which a container's rendered config is kept as
// the step's input. A larger one is, in all but name, the collection, which the
// decision holds already.
const maxKeptConfig = 64 << 10

// resumeContainer goes on from a container's stored decision.
func (s *state) resumeContainer(st *step) {
	config := st.rec.Input
	if len(config) == 0 {
		var err error
		if config, err = s.render(st); err != nil {
			s.fail(st, asStepError(err))
			return
		}
	}
	s.openContainer(st, config)
}

func (s *state) openContainer(st *step, config json.RawMessage) {
	st.box = &container{open: map[int]*scope{}}
	if st.node.Spec.Container == Loop {
		if err := s.loadLoop(st, config); err != nil {
			s.fail(st, asStepError(err))
			return
		}
		s.queue = append(s.queue, task{kind: taskContinue, step: st})
		return
	}
	st.box.open[0] = s.openScope(st, s.prog.bodies[st.node.Index], st.address, -1, nil)
}

// nestedCode is a container's code for a failure inside of it: a refusal stays
// one, so that the run can say that it was rejected.
func nestedCode(inner string) string {
	if inner == CodeRejected {
		return CodeRejected
	}
	return CodeItemsFailed
}

func errorOutput(e *StepError) json.RawMessage {
	b, _ := json.Marshal(map[string]any{"error": e}) //nolint:errchkjson // fixed shape
	return b
}

// succeedContainer settles a container with its output and what its body assigned.
func (s *state) succeedContainer(st *step, output json.RawMessage, vars *expr.Object) {
	out := Output{Value: output}
	if vars.Len() > 0 {
		out.Variables = make(map[string]any, vars.Len())
		for _, k := range vars.Keys() {
			out.Variables[k], _ = vars.Get(k)
		}
	}
	s.succeed(st, out)
	st.box.results, st.box.items, st.box.vars = nil, nil, nil
}

// asStepError turns any error into what a record stores.
func asStepError(err error) *StepError {
	if se, ok := errors.AsType[*StepError](err); ok {
		return se
	}
	if b, ok := errors.AsType[*behaviour](err); ok {
		return &StepError{Code: b.code, Message: b.Error()}
	}
	if _, ok := errors.AsType[*expr.MissingError](err); ok {
		return &StepError{Code: CodeTemplate, Message: err.Error()}
	}
	return &StepError{Code: CodeFailed, Message: err.Error()}
}
