package promises_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

const askDoc = `{"format":"sluice/v1","name":"ask","nodes":[{"id":"start","type":"trigger"},{"id":"ask","type":"approval"%s},
	{"id":"yes","type":"probe","retry":{"max_attempts":1}},{"id":"no","type":"set"}],
	"edges":[{"source":"start","target":"ask"},{"source":"ask","target":"yes","handle":"approve"},{"source":"ask","target":"no","handle":"reject"}]}`

// two boots a second server on the same database and gives both.
func (b base) two(t *testing.T, c engine.Config, probe *enginetest.Probe) (first, second *enginetest.Harness) {
	t.Helper()
	first = b.harness(t, false, c, probe)
	other := b
	other.store = b.open(t)
	return first, other.harness(t, false, c, probe)
}

// TestPromise05TheEndIsFinal promises that a run which is approved, cancelled, timed
// out and finished at the same time comes to one end, which never changes.
func TestPromise05TheEndIsFinal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		first, second := b.two(t, engine.Config{}, &enginetest.Probe{Quiet: true})
		hash := first.Define(fmt.Sprintf(askDoc, `,"config":{"timeout":"3ms","on_timeout":"reject"}`))
		var runs []string
		b.seeds(t, 200, func(t *testing.T, seed uint64) {
			rnd := rand.New(rand.NewPCG(seed, 5))
			run := start(t, first, hash)
			runs = append(runs, run.ID)
			first.Await(run.ID)
			parks := first.Snapshot(run.ID).Parks
			var actions []func(*enginetest.Harness)
			for range 2 {
				actions = append(actions, func(h *enginetest.Harness) {
					_, err := h.Engine.Cancel(context.Background(), enginetest.Account, run.ID, enginetest.Person, "")
					allowed(t, err)
				}, func(h *enginetest.Harness) {
					if len(parks) > 0 {
						_, err := answer(h, parks[0].ID, enginetest.Person, "approve")
						allowed(t, err)
					}
				}, func(h *enginetest.Harness) { h.Engine.Dispatch(run.ID) })
			}
			rnd.Shuffle(len(actions), func(i, j int) { actions[i], actions[j] = actions[j], actions[i] })
			var wg sync.WaitGroup
			for i, act := range actions {
				wg.Go(func() { act([]*enginetest.Harness{first, second}[i%2]) })
			}
			wg.Wait()
			over := ends(t, run.ID, first, second)
			snap := first.Snapshot(run.ID)
			for _, h := range []*enginetest.Harness{second, first} {
				h.Engine.Dispatch(run.ID)
				_, err := h.Engine.Cancel(context.Background(), enginetest.Account, run.ID, enginetest.Person, "")
				allowed(t, err)
			}
			require.Equal(t, snap, second.Snapshot(run.ID))
			require.Empty(t, snap.Parks)
			require.Contains(t, []engine.RunStatus{engine.RunSucceeded, engine.RunCancelled}, over.Status)
		})
		numbered(t, runs, first, second)
	})
}

// allowed lets the errors pass that tell who was first.
func allowed(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, engine.ErrConflict) {
		t.Error(err)
	}
}

func start(t *testing.T, h *enginetest.Harness, hash string) engine.Run {
	t.Helper()
	run, _, err := h.Engine.StartRun(context.Background(), engine.NewRun{Run: engine.Run{
		AccountID: enginetest.Account, WorkflowID: enginetest.Workflow, DefinitionHash: hash, Input: []byte(`{}`), StartedBy: enginetest.Person,
	}})
	require.NoError(t, err)
	return run
}

func answer(h *enginetest.Harness, parkID string, by engine.Actor, outcome string) (engine.Answered, error) {
	return h.Engine.Answer(context.Background(), engine.AnswerRequest{AccountID: enginetest.Account, ParkID: parkID, By: by, Outcome: outcome})
}

// TestPromise06AnApprovalHasOneAnswer promises that of fifty people who answer at once
// on two servers one decides, the others are told who did, and the run goes on once.
func TestPromise06AnApprovalHasOneAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		var ran atomic.Int32
		probe := &enginetest.Probe{Quiet: true, Do: func(_ context.Context, in engine.Input) (engine.Output, error) {
			ran.Add(1)
			return enginetest.Echo(in)
		}}
		first, second := b.two(t, engine.Config{}, probe)
		hash := first.Define(fmt.Sprintf(askDoc, ""))
		b.seeds(t, 20, func(t *testing.T, _ uint64) {
			ran.Store(0)
			run := start(t, first, hash)
			first.Await(run.ID)
			park := first.Park(run.ID, "ask").ID
			var won, lost atomic.Int32
			var outcome atomic.Value
			var wg sync.WaitGroup
			for i := range 50 {
				wg.Go(func() {
					h := []*enginetest.Harness{first, second}[i%2]
					by := engine.Actor{Kind: "user", ID: fmt.Sprint("user-", i), Name: fmt.Sprint("Person ", i)}
					a, err := answer(h, park, by, []string{"approve", "reject"}[i/2%2])
					if err == nil {
						won.Add(1)
						outcome.Store(a.Decision.Outcome)
					} else if errors.Is(err, engine.ErrConflict) && strings.Contains(err.Error(), "Person") {
						lost.Add(1)
					} else {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			require.EqualValues(t, 1, won.Load())
			require.EqualValues(t, 49, lost.Load())
			over := ends(t, run.ID, first, second)
			require.Equal(t, engine.RunSucceeded, over.Status)
			want := int32(0)
			if outcome.Load() == "approve" {
				want = 1
			}
			require.Equal(t, want, ran.Load())
		})
	})
}

// TestPromise07NoWakeUpIsLost promises that a run goes on by itself after an answer,
// however close to its pause and on whichever server that comes.
func TestPromise07NoWakeUpIsLost(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		first, second := b.two(t, engine.Config{}, &enginetest.Probe{Quiet: true})
		doc := `{"id":"start","type":"trigger"},{"id":"a","type":"approval"},{"id":"b","type":"approval"},{"id":"p","type":"probe"}`
		hash := first.Define(document(doc, `{"source":"start","target":"a"},{"source":"start","target":"b"},{"source":"start","target":"p"}`))
		var runs []string
		b.seeds(t, 200, func(t *testing.T, seed uint64) {
			run := start(t, first, hash)
			runs = append(runs, run.ID)
			// The parks are in the store before the run has paused: answer as they appear.
			answered := map[string]bool{}
			for len(answered) < 2 {
				for _, p := range first.Snapshot(run.ID).Parks {
					if answered[p.ID] {
						continue
					}
					answered[p.ID] = true
					h := []*enginetest.Harness{first, second}[(uint64(len(answered))+seed)%2]
					_, err := answer(h, p.ID, enginetest.Person, "approve")
					require.NoError(t, err)
				}
			}
			require.Equal(t, engine.RunSucceeded, ends(t, run.ID, first, second).Status)
		})
		numbered(t, runs, first, second)
	})
}

// numbered stops the servers and checks that the spans which they published have
// numbers that were given out, each once. Some may be left over: a segment takes them by
// the block, and an answer meanwhile takes the next.
func numbered(t *testing.T, runs []string, servers ...*enginetest.Harness) {
	t.Helper()
	for _, h := range servers {
		h.Stop(h.Engine)
	}
	for _, id := range runs {
		var seqs []int64
		for _, h := range servers {
			seqs = append(seqs, h.Trace.Seqs(id)...)
		}
		slices.Sort(seqs)
		require.Len(t, slices.Compact(slices.Clone(seqs)), len(seqs), "each once: %v", seqs)
		require.Positive(t, seqs[0])
		require.LessOrEqual(t, seqs[len(seqs)-1], servers[0].Snapshot(id).Run.SpanSeq)
	}
}

// TestPromise08APersonOrTheTimerDecides promises that an approval answered at its
// deadline has exactly one outcome, and that the loser changes nothing.
func TestPromise08APersonOrTheTimerDecides(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		first, second := b.two(t, engine.Config{}, &enginetest.Probe{Quiet: true})
		hash := first.Define(fmt.Sprintf(askDoc, `,"config":{"timeout":"4ms","on_timeout":"reject"}`))
		b.seeds(t, 150, func(t *testing.T, seed uint64) {
			run := start(t, first, hash)
			first.Await(run.ID)
			won := false
			for _, p := range first.Snapshot(run.ID).Parks {
				early := time.Duration(seed%21)*100*time.Microsecond - time.Millisecond
				at := time.NewTimer(time.Until(p.WakeAt) + early)
				<-at.C
				_, err := answer([]*enginetest.Harness{first, second}[seed%2], p.ID, enginetest.Person, "approve")
				allowed(t, err)
				won = err == nil
			}
			require.Equal(t, engine.RunSucceeded, ends(t, run.ID, first, second).Status)
			step := first.Step(run.ID, "ask")
			require.Equal(t, map[bool]string{true: "approve", false: "reject"}[won], step.Handle)
			first.Engine.Dispatch(run.ID) // a timer that was left over
			require.Equal(t, step, first.Step(run.ID, "ask"))
			require.Equal(t, won, first.Step(run.ID, "yes").Status == engine.StepSucceeded)
			require.Equal(t, won, first.Step(run.ID, "no").Status == engine.StepSkipped)
		})
	})
}
