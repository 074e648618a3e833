package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

func TestAnEdgeThatCannotBeDecidedFailsTheRunAndKeepsTheStep(t *testing.T) {
	t.Parallel()
	probe := &enginetest.Probe{}
	h := harness(t, probe)
	run := awaitTerminal(t, h, h.Start(flow(`{"id":"start","type":"trigger"},{"id":"a","type":"probe","config":{"value":1}},{"id":"done","type":"end"}`,
		`{"source":"start","target":"a"},{"source":"a","target":"done","condition":"step.a.amount > 3"}`), `{}`).ID)
	require.Equal(t, engine.RunFailed, run.Status)
	require.Equal(t, "a", run.Error.Address)
	require.Contains(t, run.Error.Message, "amount")
	step := h.Step(run.ID, "a")
	require.Equal(t, engine.StepSucceeded, step.Status)
	require.NotNil(t, step.Error)

	_, err := h.Engine.Retry(context.Background(), enginetest.Account, run.ID, enginetest.Person)
	require.NoError(t, err)
	run = awaitTerminal(t, h, run.ID)
	require.Equal(t, engine.RunFailed, run.Status, "the same data decide the same")
	require.Equal(t, "a", run.Error.Address)
	require.Len(t, probe.Calls(), 1, "a retry asks the condition again, not the effect")

	fork, err := h.Engine.Fork(context.Background(), engine.ForkRequest{AccountID: enginetest.Account, RunID: run.ID, From: "done", By: enginetest.Person})
	require.NoError(t, err)
	require.Equal(t, engine.RunFailed, awaitTerminal(t, h, fork.ID).Status)
	require.Len(t, probe.Calls(), 1)
}

func TestAnEdgeThatCannotBeDecidedFollowsThePolicyOfItsStep(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	run := awaitTerminal(t, h, h.Start(flow(`{"id":"start","type":"trigger"},{"id":"a","type":"probe","on_error":"branch"},{"id":"b","type":"set"},{"id":"done","type":"end"}`,
		`{"source":"start","target":"a"},{"source":"a","target":"b","condition":"step.a.amount > 3"},{"source":"a","target":"done","handle":"error"}`), `{}`).ID)
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
	require.Equal(t, engine.StepSkipped, h.Step(run.ID, "b").Status)
	require.Equal(t, engine.StepSucceeded, h.Step(run.ID, "done").Status)
}

func TestARetryKeepsTheIdempotencyKeyOfAnEffectOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		same bool
	}{
		"no answer": {engine.Retryable("http_network", errors.New("connection reset")), true},
		"refused":   {engine.Fatalf("http_404", "not found"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mended atomic.Bool
			probe := &enginetest.Probe{Do: func(_ context.Context, in engine.Input) (engine.Output, error) {
				if mended.Load() {
					return enginetest.Echo(in)
				}
				return engine.Output{}, tt.err
			}}
			h := harness(t, probe)
			run := awaitTerminal(t, h, h.Start(chain(`{"id":"a","type":"probe","retry":{"max_attempts":2,"base_ms":1}}`), `{}`).ID)
			require.Equal(t, engine.RunFailed, run.Status)
			mended.Store(true)
			_, err := h.Engine.Retry(context.Background(), enginetest.Account, run.ID, enginetest.Person)
			require.NoError(t, err)
			require.Equal(t, engine.RunSucceeded, awaitTerminal(t, h, run.ID).Status)
			calls := probe.Calls()
			require.Equal(t, tt.same, calls[0].Key == calls[len(calls)-1].Key)
		})
	}
}
