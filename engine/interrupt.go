package engine

import "fmt"

// maxRecoveries is how often a step may be found running after its process died
// before the run is given up as a crash loop.
const maxRecoveries = 5

// Outcomes of the question that on_interrupt "ask" puts to a person.
const (
	outcomeHappened = "happened"
	outcomeRunAgain = "run_again"
)

// interrupted decides what becomes of an effect that was running when the
// process before this one died: nobody knows whether it reached the outside.
func (s *state) interrupted(st *step) {
	rec := st.rec
	if st.scope.doomed() {
		s.close(st, StepCancelled)
		return
	}
	rec.Recoveries++
	s.touch(rec)
	if rec.Recoveries >= maxRecoveries {
		s.fail(st, &StepError{Code: CodeCrashLoop, Message: fmt.Sprintf("the server died %d times while this step was running", rec.Recoveries)})
		return
	}
	switch st.node.Interrupt {
	case InterruptFail:
		s.fail(st, &StepError{Code: CodeInterrupted, Message: "the server died while this step was running"})
	case InterruptAsk:
		s.park(st, interruptPark(st))
	default:
		// The same attempt, with the same idempotency key.
		rec.Attempt--
		s.effects = append(s.effects, st)
	}
}

func interruptPark(st *step) *Park {
	return &Park{
		Kind: ParkInterrupt,
		Outcomes: []Outcome{
			{ID: outcomeHappened, Label: "It happened: go on", Tone: "success"},
			{ID: outcomeRunAgain, Label: "It did not: run it again"},
		},
		Approval: &ApprovalRequest{
			Title: fmt.Sprintf("Did “%s” happen?", st.node.Node.Title()),
			Body:  "The server stopped while this step was running, so it is not known whether its effect took place. Look at the other side, then choose.",
		},
	}
}
