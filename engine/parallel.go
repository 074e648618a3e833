package engine

import (
	"encoding/json"
	"fmt"

	"sluice/engine/expr"
)

type parallelConfig struct {
	Require string `json:"require"`
}

// branchDone settles a branch with the output of its body.
func (s *state) branchDone(sc *scope) {
	st := sc.owner
	delete(st.box.open, 0)
	st.box.kept = sc
	switch {
	case sc.failure != nil:
		s.fail(st, &StepError{Code: sc.failure.Code, Address: sc.failure.Address, Message: sc.failure.Message})
	case st.scope.doomed():
		s.close(st, StepCancelled)
	default:
		s.succeedContainer(st, s.bodyOutput(sc), s.written(sc))
	}
}

// parallelDone settles a parallel once every branch has.
func (s *state) parallelDone(sc *scope) {
	st := sc.owner
	delete(st.box.open, 0)
	st.box.kept = sc
	if st.scope.doomed() {
		s.close(st, StepCancelled)
		return
	}
	var c parallelConfig
	if err := decodeConfig(rawOr(st.rec.Input, "{}"), &c); err != nil {
		s.fail(st, asStepError(err))
		return
	}
	output, failed := branchResults(sc)
	if failed != nil && (c.Require == "all" || c.Require == "any" && allFailed(sc)) {
		s.fail(st, failed)
		return
	}
	s.succeedContainer(st, output, s.written(sc))
}

// branchResults is {"branches":{id:{status, output|error}}} in definition order,
// and the first failure if there is one.
func branchResults(sc *scope) (json.RawMessage, *StepError) {
	var first *StepError
	branches := expr.NewObject()
	for i := range sc.steps {
		st := &sc.steps[i]
		b := expr.NewObject()
		status := string(st.rec.Status)
		if e := st.rec.Error; e != nil {
			if e.Code == CodeRejected {
				status = string(RunRejected)
			}
			b.Set("status", status)
			b.Set("error", e)
			if first == nil {
				first = &StepError{Code: nestedCode(e.Code), Address: e.Address, Message: fmt.Sprintf("branch %s: %s", st.node.Node.Title(), e.Message)}
			}
		} else {
			b.Set("status", status)
			b.Set("output", rawOr(st.rec.Output, "null"))
		}
		branches.Set(st.node.Node.ID, b)
	}
	root := expr.NewObject()
	root.Set("branches", branches)
	raw, err := expr.Encode(root)
	if err != nil {
		return nil, &StepError{Code: CodeFailed, Message: err.Error()}
	}
	return raw, first
}

func allFailed(sc *scope) bool {
	for i := range sc.steps {
		if sc.steps[i].rec.Status == StepSucceeded {
			return false
		}
	}
	return true
}
