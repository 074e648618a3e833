package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
	"sluice/engine/memstore"
)

// hooked is a store that tells of its calls before it makes them.
type hooked struct {
	*memstore.Store
	claim  func(runID string) error
	commit func(engine.Transition)
}

func (s *hooked) Claim(ctx context.Context, runID, owner string, lease time.Duration) (engine.Snapshot, error) {
	if s.claim != nil {
		if err := s.claim(runID); err != nil {
			return engine.Snapshot{}, err
		}
	}
	return s.Store.Claim(ctx, runID, owner, lease)
}

func (s *hooked) Commit(ctx context.Context, t engine.Transition) (int64, error) {
	if s.commit != nil {
		s.commit(t)
	}
	return s.Store.Commit(ctx, t)
}

func onHooked(t *testing.T, probe *enginetest.Probe, c engine.Config) (*enginetest.Harness, *hooked) {
	t.Helper()
	s := &hooked{Store: memstore.New(nil)}
	return enginetest.New(t, registry(t, probe), enginetest.Options{Store: s, Add: s.AddDefinition, Config: c}), s
}

func TestAnEffectCutOffByAStopIsTreatedAsInterrupted(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]engine.RunStatus{"ask": engine.RunPendingApproval, "fail": engine.RunFailed} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			started := make(chan struct{})
			probe := &enginetest.Probe{Do: func(ctx context.Context, _ engine.Input) (engine.Output, error) {
				close(started)
				<-ctx.Done()
				return engine.Output{}, ctx.Err()
			}}
			h := enginetest.New(t, registry(t, probe), enginetest.Options{Config: engine.Config{Grace: time.Millisecond}})
			run := h.Start(chain(`{"id":"a","type":"probe","on_interrupt":"`+policy+`"}`), `{}`)
			<-started
			h.Restart()
			run = h.Await(run.ID)
			require.Equal(t, want, run.Status)
			require.Len(t, probe.Calls(), 1)
		})
	}
}

func TestAPersonSaysWhetherAnInterruptedEffectHappened(t *testing.T) {
	t.Parallel()
	for outcome, calls := range map[string]int{"happened": 1, "run_again": 2} {
		t.Run(outcome, func(t *testing.T) {
			t.Parallel()
			started := make(chan struct{}, 2)
			var first atomic.Bool
			probe := &enginetest.Probe{Do: func(ctx context.Context, in engine.Input) (engine.Output, error) {
				if first.CompareAndSwap(false, true) {
					started <- struct{}{}
					<-ctx.Done()
					return engine.Output{}, ctx.Err()
				}
				return enginetest.Echo(in)
			}}
			h := enginetest.New(t, registry(t, probe), enginetest.Options{Config: engine.Config{Grace: time.Millisecond}})
			run := h.Start(chain(`{"id":"a","type":"probe","label":"Charge","on_interrupt":"ask","retry":{"max_attempts":1}}`), `{}`)
			<-started
			h.Restart()
			require.Equal(t, engine.RunPendingApproval, h.Await(run.ID).Status)
			require.Contains(t, h.Park(run.ID, "a").Approval.Title, "Charge")
			h.Answer(run.ID, "a", outcome, "")
			run = awaitTerminal(t, h, run.ID)
			require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
			made := probe.Calls()
			require.Len(t, made, calls)
			require.Equal(t, made[0].Key, made[len(made)-1].Key)
		})
	}
}

func TestAStoppingEngineKeepsItsLeaseWhileEffectsAreUnderWay(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	probe := &enginetest.Probe{Do: func(_ context.Context, in engine.Input) (engine.Output, error) {
		close(started)
		<-release
		return enginetest.Echo(in)
	}}
	const lease = 200 * time.Millisecond
	h, store := onHooked(t, probe, engine.Config{Lease: lease, Grace: time.Minute})
	renewed := make(chan struct{}, 100)
	store.commit = func(engine.Transition) { renewed <- struct{}{} }
	run := h.Start(chain(`{"id":"a","type":"probe"}`), `{}`)
	<-started
	stopped := make(chan struct{})
	go func() { h.Stop(h.Engine); close(stopped) }()
	began := time.Now()
	for time.Since(began) < 3*lease {
		<-renewed
		_, err := store.Store.Claim(t.Context(), run.ID, "another", lease)
		require.ErrorIs(t, err, engine.ErrNotRunnable)
	}
	close(release)
	<-stopped
	require.Equal(t, engine.StepSucceeded, h.Step(run.ID, "a").Status, "what ended in the grace time is kept")
	require.Len(t, probe.Calls(), 1)
}

func TestADispatchDuringAVainClaimIsNotLost(t *testing.T) {
	t.Parallel()
	h, store := onHooked(t, &enginetest.Probe{}, engine.Config{})
	var claims atomic.Int32
	store.claim = func(runID string) error {
		if claims.Add(1) == 1 {
			// Somebody else has the run, gives it back, and says so.
			h.Engine.Dispatch(runID)
			return engine.ErrNotRunnable
		}
		return nil
	}
	run := awaitTerminal(t, h, h.Start(chain(`{"id":"a","type":"probe"}`), `{}`).ID)
	require.Equal(t, engine.RunSucceeded, run.Status)
}
