package promises_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

// TestPromise04TheSchedulerDoesWhatTheRulesSay promises that which steps run, are
// skipped or fail, and what each of them is given, follows from the workflow and the
// rules alone.
func TestPromise04TheSchedulerDoesWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		b.seeds(t, 600, func(t *testing.T, seed uint64) {
			b := b.fresh()
			flow := enginetest.Generate(seed, enginetest.Shape{})
			h := b.harness(t, true, engine.Config{}, &enginetest.Probe{Quiet: true, Do: flow.Effect})
			run := h.Drive(h.Start(flow.Document, flow.Input).ID, enginetest.Drive{Decide: flow.Decide})
			h.Stop(h.Engine)
			require.Empty(t, flow.Check(h.Snapshot(run.ID)), "%s\n%s", flow.Document, flow.Input)
		})
	})
}

// TestPromise04ARetriedRunEndsAsTheRulesSay promises that a run which was cancelled
// anywhere, or failed, and is retried ends as the rules say, and that steps which had
// succeeded keep what they gave.
func TestPromise04ARetriedRunEndsAsTheRulesSay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		b.seeds(t, 200, func(t *testing.T, seed uint64) {
			b := b.fresh()
			rnd := rand.New(rand.NewPCG(seed, 4))
			flow := enginetest.Generate(seed, enginetest.Shape{Steps: 100})
			var calls atomic.Int32
			cancelAt := int32(1 + rnd.IntN(20))
			var h *enginetest.Harness
			probe := &enginetest.Probe{Quiet: true, Do: func(ctx context.Context, in engine.Input) (engine.Output, error) {
				if calls.Add(1) == cancelAt {
					_, err := h.Engine.Cancel(context.WithoutCancel(ctx), enginetest.Account, in.RunID, enginetest.Person, "")
					allowed(t, err)
				}
				return flow.Effect(ctx, in)
			}}
			h = b.harness(t, true, engine.Config{}, probe)
			drive := enginetest.Drive{Decide: flow.Decide}
			run := h.Drive(h.Start(flow.Document, flow.Input).ID, drive)
			for range 2 {
				if run.Status == engine.RunSucceeded {
					break
				}
				before := h.Snapshot(run.ID)
				_, err := h.Engine.Retry(context.Background(), enginetest.Account, run.ID, enginetest.Person)
				require.NoError(t, err)
				run = h.Drive(run.ID, drive)
				after := h.Snapshot(run.ID)
				if run.Status != engine.RunCancelled { // it may be so only now
					require.Empty(t, flow.Check(after), "%s\n%s", flow.Document, flow.Input)
				}
				for _, r := range before.Records {
					if r.Type == "probe" && r.Status == engine.StepSucceeded && !r.Superseded {
						require.Contains(t, outputs(after, r.Address), string(r.Output))
					}
				}
			}
			h.Stop(h.Engine)
			require.Empty(t, h.Snapshot(run.ID).Parks)
		})
	})
}

// outputs are what the rounds of a step gave.
func outputs(snap engine.Snapshot, address string) (out []string) {
	for _, r := range snap.Records {
		if r.Address == address {
			out = append(out, string(r.Output))
		}
	}
	return out
}
