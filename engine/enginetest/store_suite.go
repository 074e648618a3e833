package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
)

// Opened is a store under test with an account and a workflow to put runs into.
type Opened struct {
	Store      Backend
	AccountID  string
	WorkflowID string
	VersionID  string
	Hash       string
}

// RunStore is the conformance suite of [engine.Store].
func RunStore(t *testing.T, open func(t *testing.T) Opened) {
	t.Helper()
	tests := map[string]func(suite, *testing.T){
		"a run comes back as it was created":      suite.roundTrip,
		"an idempotency key starts once":          suite.idempotency,
		"fifty starts with one key are one run":   suite.concurrentStarts,
		"a claim excludes others and counts up":   suite.claim,
		"an expired lease is taken over":          suite.takeover,
		"commits are fenced by epoch":             suite.fence,
		"records come back as they were written":  suite.records,
		"parking waits for the wakeups it missed": suite.wakeups,
		"fifty answers have one winner":           suite.answers,
		"a bad answer leaves the park open":       suite.badAnswer,
		"a closed park refuses answers":           suite.closedPark,
		"closing an answered park is refused":     suite.closeAnswered,
		"cancel ends everything once":             suite.cancel,
		"restart supersedes and requeues":         suite.restart,
		"due finds what must go on":               suite.due,
		"concurrent runs keep apart":              suite.concurrent,
		"foreign accounts find nothing":           suite.foreign,
		"NUL and broken text are stored safely":   suite.hostileText,
		"commits of one run are seen in order":    suite.sameRun,
		"a refused commit changes nothing":        suite.refused,
		"snapshots are of one moment":             suite.moments,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(suite{open(t)}, t)
		})
	}
}

type suite struct{ Opened }

var now = time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)

func (s suite) create(t *testing.T, change func(*engine.NewRun)) engine.Run {
	t.Helper()
	n := engine.NewRun{Run: engine.Run{
		ID: engine.NewID(), AccountID: s.AccountID, WorkflowID: s.WorkflowID, VersionID: s.VersionID, DefinitionHash: s.Hash,
		Input: json.RawMessage(`{"b":1,"a":9007199254740993}`), StartedBy: Person, CreatedAt: now,
	}}
	if change != nil {
		change(&n)
	}
	run, created, err := s.Store.CreateRun(t.Context(), n)
	require.NoError(t, err)
	require.True(t, created)
	return run
}

func (s suite) claimed(t *testing.T) engine.Snapshot {
	t.Helper()
	snap, err := s.Store.Claim(t.Context(), s.create(t, nil).ID, "me", time.Minute)
	require.NoError(t, err)
	return snap
}

func (s suite) commit(t *testing.T, run engine.Run, change func(*engine.Transition)) int64 {
	t.Helper()
	tr := engine.Transition{RunID: run.ID, AccountID: run.AccountID, Epoch: run.Epoch, At: now}
	change(&tr)
	seq, err := s.Store.Commit(t.Context(), tr)
	require.NoError(t, err)
	return seq
}

func (s suite) roundTrip(t *testing.T) {
	run := s.create(t, func(n *engine.NewRun) { n.Variables = json.RawMessage(`{"x":[]}`); n.Depth = 2 })
	snap, err := s.Store.Load(t.Context(), s.AccountID, run.ID)
	require.NoError(t, err)
	require.Equal(t, run, snap.Run)
	require.Equal(t, engine.RunQueued, snap.Run.Status)
	require.Equal(t, `{"b":1,"a":9007199254740993}`, string(snap.Run.Input))
	require.Empty(t, snap.Records)
}

func (s suite) idempotency(t *testing.T) {
	first := s.create(t, func(n *engine.NewRun) { n.IdempotencyKey = "k" })
	n := engine.NewRun{Run: first}
	n.ID = engine.NewID()
	again, created, err := s.Store.CreateRun(t.Context(), n)
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, first.ID, again.ID)
	n.Input = json.RawMessage(`{}`)
	_, _, err = s.Store.CreateRun(t.Context(), n)
	require.ErrorIs(t, err, engine.ErrConflict)
}

func (s suite) concurrentStarts(t *testing.T) {
	ids, created := make([]string, 50), make([]bool, 50)
	errs := make([]error, 50)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			n := engine.NewRun{Run: engine.Run{
				ID: engine.NewID(), AccountID: s.AccountID, WorkflowID: s.WorkflowID, VersionID: s.VersionID, DefinitionHash: s.Hash,
				Input: json.RawMessage(`{}`), IdempotencyKey: "once", CreatedAt: now,
			}}
			run, isNew, err := s.Store.CreateRun(context.Background(), n)
			ids[i], created[i], errs[i] = run.ID, isNew, err
		})
	}
	wg.Wait()
	winners := 0
	for i := range ids {
		require.NoError(t, errs[i])
		require.Equal(t, ids[0], ids[i])
		if created[i] {
			winners++
		}
	}
	require.Equal(t, 1, winners)
}

func (s suite) claim(t *testing.T) {
	run := s.create(t, nil)
	snap, err := s.Store.Claim(t.Context(), run.ID, "a", time.Minute)
	require.NoError(t, err)
	require.Equal(t, engine.RunRunning, snap.Run.Status)
	require.EqualValues(t, 1, snap.Run.Epoch)
	require.False(t, snap.TakenOver)
	require.False(t, snap.Run.StartedAt.IsZero())
	_, err = s.Store.Claim(t.Context(), run.ID, "b", time.Minute)
	require.ErrorIs(t, err, engine.ErrNotRunnable)
	_, err = s.Store.Claim(t.Context(), engine.NewID(), "b", time.Minute)
	require.ErrorIs(t, err, engine.ErrNotFound)
}

func (s suite) takeover(t *testing.T) {
	run := s.create(t, nil)
	first, err := s.Store.Claim(t.Context(), run.ID, "a", -time.Second)
	require.NoError(t, err)
	second, err := s.Store.Claim(t.Context(), run.ID, "b", time.Minute)
	require.NoError(t, err)
	require.True(t, second.TakenOver)
	require.EqualValues(t, 2, second.Run.Epoch)
	_, err = s.Store.Commit(t.Context(), engine.Transition{RunID: run.ID, Epoch: first.Run.Epoch, At: now})
	require.ErrorIs(t, err, engine.ErrLeaseLost)
}

func (s suite) fence(t *testing.T) {
	snap := s.claimed(t)
	require.EqualValues(t, 3, s.commit(t, snap.Run, func(tr *engine.Transition) { tr.Spans = 3; tr.Lease = time.Minute }))
	s.commit(t, snap.Run, func(tr *engine.Transition) {
		tr.Status, tr.Output, tr.Usage = engine.RunSucceeded, json.RawMessage(`{"z":1,"a":2}`), engine.Usage{InputTokens: 5}
	})
	_, err := s.Store.Commit(t.Context(), engine.Transition{RunID: snap.Run.ID, Epoch: snap.Run.Epoch, Status: engine.RunFailed, At: now})
	require.ErrorIs(t, err, engine.ErrLeaseLost)
	after, err := s.Store.Load(t.Context(), s.AccountID, snap.Run.ID)
	require.NoError(t, err)
	require.Equal(t, engine.RunSucceeded, after.Run.Status)
	require.Equal(t, `{"z":1,"a":2}`, string(after.Run.Output))
	require.Equal(t, now, after.Run.EndedAt)
	require.EqualValues(t, 5, after.Run.Usage.InputTokens)
	_, err = s.Store.Claim(t.Context(), snap.Run.ID, "b", time.Minute)
	require.ErrorIs(t, err, engine.ErrNotRunnable)
}

func sample(address string) engine.Record {
	return engine.Record{
		Address: address, NodeID: "n", Type: "set", Status: engine.StepRetrying, Attempt: 2, Seq: 1, Input: json.RawMessage(`{"b":1,"a":2}`),
		Error: &engine.StepError{Code: "x", Message: "m", Attempts: 2}, Handle: "then", Variables: json.RawMessage(`{"v":1}`),
		Decision: json.RawMessage(`{"items":[1]}`), NextAttemptAt: now.Add(time.Second), Usage: engine.Usage{ModelCalls: 1},
		Warning: "w", StartedAt: now, EndedAt: now.Add(time.Minute), Recoveries: 1,
	}
}

func (s suite) records(t *testing.T) {
	snap := s.claimed(t)
	undecided, none, some := sample("each[3]/注文"), sample("b"), sample("c")
	none.Taken, none.Seq = []int{}, 2
	some.Taken, some.Seq = []int{0, 7}, 3
	var many []engine.Record
	for i := range 1_000 {
		r := sample(fmt.Sprintf("l[%d]/x", i))
		r.Seq = int64(10 + i)
		many = append(many, r)
	}
	s.commit(t, snap.Run, func(tr *engine.Transition) { tr.Records = append([]engine.Record{undecided, none, some}, many...) })
	none.Status, none.Output = engine.StepSucceeded, json.RawMessage(`null`)
	s.commit(t, snap.Run, func(tr *engine.Transition) { tr.Records = []engine.Record{none} })
	got, err := s.Store.Load(t.Context(), s.AccountID, snap.Run.ID)
	require.NoError(t, err)
	require.Len(t, got.Records, 1_003)
	require.Equal(t, []engine.Record{undecided, none, some}, got.Records[:3])
	require.Nil(t, got.Records[0].Taken)
	require.NotNil(t, got.Records[1].Taken)
}

// parked is a run that waits for one approval.
func (s suite) parked(t *testing.T) (engine.Run, engine.Park) {
	t.Helper()
	snap := s.claimed(t)
	p := engine.Park{
		ID: engine.NewID(), RunID: snap.Run.ID, Address: "ask", NodeID: "ask", Kind: engine.ParkApproval, OpenedAt: now,
		Outcomes: []engine.Outcome{{ID: "approve", Label: "Approve"}}, Approval: &engine.ApprovalRequest{Title: "Ok?", Body: "**b**"},
	}
	rec := engine.Record{Address: "ask", NodeID: "ask", Type: "approval", Status: engine.StepParked, Attempt: 1, Seq: 1, ParkID: p.ID, StartedAt: now}
	s.commit(t, snap.Run, func(tr *engine.Transition) {
		tr.Records, tr.OpenParks, tr.Status = []engine.Record{rec}, []engine.Park{p}, engine.RunPendingApproval
	})
	return snap.Run, p
}

func (s suite) answer(p engine.Park, by engine.Actor, outcome string) engine.Answer {
	return engine.Answer{AccountID: s.AccountID, ParkID: p.ID, By: by, Outcome: outcome, At: now, Resolve: func(got engine.Park) (engine.Resolution, error) {
		if got.ID != p.ID || got.Approval == nil || got.Approval.Title != "Ok?" {
			return engine.Resolution{}, errors.New("another park")
		}
		return engine.Resolution{Outcome: outcome, Handle: outcome, Output: json.RawMessage(`{"outcome":"` + outcome + `"}`)}, nil
	}}
}

func (s suite) wakeups(t *testing.T) {
	run, p := s.parked(t)
	_, err := s.Store.Answer(t.Context(), s.answer(p, Person, "approve"))
	require.NoError(t, err)
	snap, err := s.Store.Claim(t.Context(), run.ID, "a", time.Minute)
	require.NoError(t, err)
	require.EqualValues(t, 1, snap.Run.Wakeups)
	require.Empty(t, snap.Parks)
	require.Equal(t, engine.StepSucceeded, snap.Records[0].Status)
	require.Nil(t, snap.Records[0].Taken)
	_, err = s.Store.Commit(t.Context(), engine.Transition{RunID: run.ID, Epoch: snap.Run.Epoch, Status: engine.RunWaiting, Wakeups: 0, WakeAt: now, At: now, Records: []engine.Record{sample("lost")}})
	require.ErrorIs(t, err, engine.ErrWoken)
	after, err := s.Store.Load(t.Context(), s.AccountID, run.ID)
	require.NoError(t, err)
	require.Len(t, after.Records, 1, "a refused transition must write nothing")
	s.commit(t, snap.Run, func(tr *engine.Transition) { tr.Status, tr.Wakeups, tr.WakeAt = engine.RunWaiting, 1, now })
}

func (s suite) answers(t *testing.T) {
	run, p := s.parked(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	won, conflicts := 0, 0
	for i := range 50 {
		wg.Go(func() {
			by := engine.Actor{Kind: "user", ID: strconv.Itoa(i), Name: "Person"}
			_, err := s.Store.Answer(t.Context(), s.answer(p, by, "approve"))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case errors.Is(err, engine.ErrConflict):
				conflicts++
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, won)
	require.Equal(t, 49, conflicts)
	snap, err := s.Store.Load(t.Context(), s.AccountID, run.ID)
	require.NoError(t, err)
	require.Equal(t, engine.RunQueued, snap.Run.Status)
	require.EqualValues(t, 1, snap.Run.Wakeups)
}

func (s suite) badAnswer(t *testing.T) {
	_, p := s.parked(t)
	a := s.answer(p, Person, "approve")
	a.Resolve = func(engine.Park) (engine.Resolution, error) {
		return engine.Resolution{}, &engine.InvalidError{Message: "no"}
	}
	_, err := s.Store.Answer(t.Context(), a)
	var bad *engine.InvalidError
	require.ErrorAs(t, err, &bad)
	out, err := s.Store.Answer(t.Context(), s.answer(p, Person, "approve"))
	require.NoError(t, err)
	require.Equal(t, engine.RunQueued, out.Run.Status)
	require.EqualValues(t, 1, out.Run.SpanSeq)
	require.Equal(t, `{"outcome":"approve"}`, string(out.Record.Output))
	again, err := s.Store.Answer(t.Context(), s.answer(p, Person, "approve"))
	require.NoError(t, err)
	require.True(t, again.Repeated)
	_, err = s.Store.Answer(t.Context(), s.answer(p, Person, "reject"))
	require.ErrorIs(t, err, engine.ErrConflict)
	require.ErrorContains(t, err, "Mai")
}

func (s suite) closedPark(t *testing.T) {
	run, p := s.parked(t)
	snap, err := s.Store.Claim(t.Context(), run.ID, "a", time.Minute)
	require.NoError(t, err)
	require.Len(t, snap.Parks, 1)
	require.Equal(t, p, snap.Parks[0])
	s.commit(t, snap.Run, func(tr *engine.Transition) {
		tr.ClosePark = []engine.ParkClose{{ID: p.ID, Status: "timed_out", Reason: "late"}}
	})
	_, err = s.Store.Answer(t.Context(), s.answer(p, Person, "approve"))
	require.ErrorIs(t, err, engine.ErrConflict)
}

func (s suite) closeAnswered(t *testing.T) {
	run, p := s.parked(t)
	snap, err := s.Store.Claim(t.Context(), run.ID, "a", time.Minute)
	require.NoError(t, err)
	out, err := s.Store.Answer(t.Context(), s.answer(p, Person, "approve"))
	require.NoError(t, err)
	require.Equal(t, engine.RunRunning, out.Run.Status)
	_, err = s.Store.Commit(t.Context(), engine.Transition{
		RunID: run.ID, Epoch: snap.Run.Epoch, At: now, Records: []engine.Record{sample("lost")},
		ClosePark: []engine.ParkClose{{ID: p.ID, Status: "timed_out"}},
	})
	require.ErrorIs(t, err, engine.ErrWoken)
	after, err := s.Store.Load(t.Context(), s.AccountID, run.ID)
	require.NoError(t, err)
	require.Len(t, after.Records, 1)
	require.Equal(t, engine.StepSucceeded, after.Records[0].Status)
}

func (s suite) cancel(t *testing.T) {
	run, p := s.parked(t)
	c := engine.Cancellation{AccountID: s.AccountID, RunID: run.ID, By: Person, Reason: "no", At: now}
	out, err := s.Store.Cancel(t.Context(), c)
	require.NoError(t, err)
	require.True(t, out.Changed)
	require.Len(t, out.Records, 1)
	require.EqualValues(t, 2, out.Run.SpanSeq)
	require.Equal(t, engine.RunCancelled, out.Run.Status)
	out, err = s.Store.Cancel(t.Context(), c)
	require.NoError(t, err)
	require.False(t, out.Changed)
	_, err = s.Store.Answer(t.Context(), s.answer(p, Person, "approve"))
	require.ErrorIs(t, err, engine.ErrConflict)
	_, err = s.Store.Commit(t.Context(), engine.Transition{RunID: run.ID, Epoch: run.Epoch, At: now})
	require.ErrorIs(t, err, engine.ErrLeaseLost)

	done := s.claimed(t)
	s.commit(t, done.Run, func(tr *engine.Transition) { tr.Status = engine.RunSucceeded })
	c.RunID = done.Run.ID
	_, err = s.Store.Cancel(t.Context(), c)
	require.ErrorIs(t, err, engine.ErrConflict)
}

func (s suite) restart(t *testing.T) {
	snap := s.claimed(t)
	s.commit(t, snap.Run, func(tr *engine.Transition) {
		tr.Records, tr.Status, tr.Error = []engine.Record{sample("a")}, engine.RunFailed, &engine.StepError{Code: "x", Message: "m"}
	})
	_, err := s.Store.Restart(t.Context(), s.AccountID, snap.Run.ID, func(engine.Snapshot) (engine.Reset, error) {
		return engine.Reset{}, &engine.ConflictError{Message: "not now"}
	})
	require.ErrorIs(t, err, engine.ErrConflict)
	run, err := s.Store.Restart(t.Context(), s.AccountID, snap.Run.ID, func(got engine.Snapshot) (engine.Reset, error) {
		return engine.Reset{Superseded: []engine.RecordKey{got.Records[0].Key()}, Input: json.RawMessage(`{"n":1}`)}, nil
	})
	require.NoError(t, err)
	require.Equal(t, engine.RunQueued, run.Status)
	require.Nil(t, run.Error)
	require.Equal(t, `{"n":1}`, string(run.Input))
	after, err := s.Store.Claim(t.Context(), run.ID, "b", time.Minute)
	require.NoError(t, err)
	require.True(t, after.Records[0].Superseded)
}

func (s suite) due(t *testing.T) {
	queued := s.create(t, nil)
	fresh := s.create(t, func(n *engine.NewRun) { n.CreatedAt = time.Now().Add(time.Hour) })
	dead := s.create(t, nil)
	_, err := s.Store.Claim(t.Context(), dead.ID, "a", -time.Second)
	require.NoError(t, err)
	alive := s.claimed(t)
	waiting := s.claimed(t)
	s.commit(t, waiting.Run, func(tr *engine.Transition) { tr.Status, tr.WakeAt = engine.RunWaiting, now })
	later := s.claimed(t)
	s.commit(t, later.Run, func(tr *engine.Transition) { tr.Status, tr.WakeAt = engine.RunWaiting, time.Now().Add(time.Hour) })
	ids, err := s.Store.Due(t.Context(), time.Minute, 100)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{queued.ID, dead.ID, waiting.Run.ID}, ids)
	require.NotContains(t, ids, fresh.ID)
	require.NotContains(t, ids, alive.Run.ID)
}

func (s suite) concurrent(t *testing.T) {
	var wg sync.WaitGroup
	errs := make(chan error, 40)
	for range 40 {
		run := s.create(t, nil)
		wg.Go(func() {
			snap, err := s.Store.Claim(context.Background(), run.ID, "a", time.Minute)
			for i := 0; err == nil && i < 10; i++ {
				_, err = s.Store.Commit(context.Background(), engine.Transition{RunID: run.ID, AccountID: s.AccountID, Epoch: snap.Run.Epoch, Records: []engine.Record{sample(fmt.Sprint("s", i))}, At: now, Spans: 1})
			}
			if err == nil {
				after, loadErr := s.Store.Load(context.Background(), s.AccountID, run.ID)
				if err = loadErr; err == nil && (len(after.Records) != 10 || after.Run.SpanSeq != 10) {
					err = fmt.Errorf("%d records, %d spans", len(after.Records), after.Run.SpanSeq)
				}
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
}

func (s suite) foreign(t *testing.T) {
	run, p := s.parked(t)
	_, err := s.Store.Load(t.Context(), "someone-else", run.ID)
	require.ErrorIs(t, err, engine.ErrNotFound)
	a := s.answer(p, Person, "approve")
	a.AccountID = "someone-else"
	_, err = s.Store.Answer(t.Context(), a)
	require.ErrorIs(t, err, engine.ErrNotFound)
	_, err = s.Store.Cancel(t.Context(), engine.Cancellation{AccountID: "someone-else", RunID: run.ID, At: now})
	require.ErrorIs(t, err, engine.ErrNotFound)
	_, err = s.Store.Restart(t.Context(), "someone-else", run.ID, func(engine.Snapshot) (engine.Reset, error) { return engine.Reset{}, nil })
	require.ErrorIs(t, err, engine.ErrNotFound)
}

func (s suite) hostileText(t *testing.T) {
	snap := s.claimed(t)
	r := sample("a")
	r.Output = json.RawMessage(`{"t":"a\u0000b","k\u0000":"\ufffd"}`)
	r.Error = &engine.StepError{Code: "x", Message: "nul \x00 and \xff"}
	r.Warning = "nul \x00 and \xff"
	s.commit(t, snap.Run, func(tr *engine.Transition) { tr.Records = []engine.Record{r} })
	after, err := s.Store.Load(t.Context(), s.AccountID, snap.Run.ID)
	require.NoError(t, err)
	require.Equal(t, string(r.Output), string(after.Records[0].Output))
	require.Contains(t, after.Records[0].Error.Message, "nul ")
	run := s.create(t, func(n *engine.NewRun) {
		n.Input, n.IdempotencyKey = json.RawMessage("{\"a\":\"\xff\"}"), "key \x00 \xff"
	})
	_, err = s.Store.Load(t.Context(), s.AccountID, run.ID)
	require.NoError(t, err)
	for _, id := range []string{"\x00", "\xff", ""} {
		_, err = s.Store.Load(t.Context(), s.AccountID, id)
		require.ErrorIs(t, err, engine.ErrNotFound)
		_, err = s.Store.Claim(t.Context(), id, "me", time.Minute)
		require.ErrorIs(t, err, engine.ErrNotFound)
		_, err = s.Store.Cancel(t.Context(), engine.Cancellation{AccountID: s.AccountID, RunID: id, At: now})
		require.ErrorIs(t, err, engine.ErrNotFound)
		_, err = s.Store.Answer(t.Context(), engine.Answer{AccountID: s.AccountID, ParkID: id, At: now})
		require.ErrorIs(t, err, engine.ErrNotFound)
	}
}

// sameRun hands in changes of one run faster than they are committed: the store may
// join them, but each must build on the one before.
func (s suite) sameRun(t *testing.T) {
	snap := s.claimed(t)
	busy := make(chan struct{})
	var others sync.WaitGroup
	for range 8 { // so that there is something to join
		run := s.claimed(t).Run
		others.Go(func() {
			for {
				select {
				case <-busy:
					return
				default:
					_, _ = s.Store.Commit(context.Background(), engine.Transition{RunID: run.ID, AccountID: run.AccountID, Epoch: run.Epoch, At: now})
				}
			}
		})
	}
	for i := range 50 {
		r := sample("a")
		r.Attempt, r.Seq = i, 1
		seq := s.commit(t, snap.Run, func(tr *engine.Transition) {
			tr.Records, tr.Spans, tr.Usage = []engine.Record{r}, 2, engine.Usage{InputTokens: 1}
		})
		require.EqualValues(t, 2*(i+1), seq)
	}
	close(busy)
	others.Wait()
	after, err := s.Store.Load(t.Context(), s.AccountID, snap.Run.ID)
	require.NoError(t, err)
	require.Len(t, after.Records, 1)
	require.Equal(t, 49, after.Records[0].Attempt)
	require.EqualValues(t, 50, after.Run.Usage.InputTokens)
}

func (s suite) refused(t *testing.T) {
	run, p := s.parked(t)
	before, err := s.Store.Load(t.Context(), s.AccountID, run.ID)
	require.NoError(t, err)
	late := engine.Park{ID: engine.NewID(), RunID: run.ID, Address: "late", NodeID: "late", Kind: engine.ParkTimer, OpenedAt: now}
	tr := engine.Transition{
		RunID: run.ID, AccountID: s.AccountID, Epoch: run.Epoch, Records: []engine.Record{sample("late")}, OpenParks: []engine.Park{late},
		Usage: engine.Usage{InputTokens: 9}, Spans: 9, Status: engine.RunFailed, At: now,
		ClosePark: []engine.ParkClose{{ID: p.ID, Status: "cancelled"}},
	}
	_, err = s.Store.Commit(t.Context(), tr)
	require.ErrorIs(t, err, engine.ErrLeaseLost, "a parked run has given its lease back")
	claimed, err := s.Store.Claim(t.Context(), run.ID, "a", time.Minute)
	require.NoError(t, err)
	_, err = s.Store.Commit(t.Context(), tr)
	require.ErrorIs(t, err, engine.ErrLeaseLost, "the epoch is the one before")
	tr.Epoch, tr.ClosePark = claimed.Run.Epoch, append(tr.ClosePark, engine.ParkClose{ID: engine.NewID(), Status: "cancelled"})
	_, err = s.Store.Commit(t.Context(), tr)
	require.ErrorIs(t, err, engine.ErrWoken, "one of the parks is not open")
	after, err := s.Store.Load(t.Context(), s.AccountID, run.ID)
	require.NoError(t, err)
	require.Equal(t, before.Records, after.Records)
	require.Equal(t, before.Parks, after.Parks)
	require.Equal(t, before.Run.SpanSeq, after.Run.SpanSeq)
	require.Equal(t, before.Run.Usage, after.Run.Usage)
}

// moments reads while an answer is given: a snapshot has all of it or nothing.
func (s suite) moments(t *testing.T) {
	for range 10 {
		run, p := s.parked(t)
		answered := make(chan error, 1)
		go func() {
			_, err := s.Store.Answer(context.Background(), s.answer(p, Person, "approve"))
			answered <- err
		}()
		for done := false; !done; {
			select {
			case err := <-answered:
				require.NoError(t, err)
				done = true
			default:
			}
			snap, err := s.Store.Load(t.Context(), s.AccountID, run.ID)
			require.NoError(t, err)
			before := fmt.Sprint(0, 1, engine.StepParked)
			after := fmt.Sprint(1, 0, engine.StepSucceeded)
			require.Contains(t, []string{before, after}, fmt.Sprint(snap.Run.Wakeups, len(snap.Parks), snap.Records[0].Status))
		}
	}
}
