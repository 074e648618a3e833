package promises_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

// TestPromise19AFailingStoreLeavesNothingHalfWritten promises that a run ends as the
// rules say although calls of its store fail, are applied without the caller's
// knowledge, or never come back.
func TestPromise19AFailingStoreLeavesNothingHalfWritten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		b.seeds(t, 50, func(t *testing.T, seed uint64) {
			b := b.fresh()
			rnd := rand.New(rand.NewPCG(seed, 19))
			flow := enginetest.Generate(seed, enginetest.Shape{Steps: 60})
			h := b.harness(t, true, engine.Config{}, &enginetest.Probe{Quiet: true, Do: flow.Effect})
			calls := b.calls(t, flow)
			faults := func() {
				for range 1 + rnd.IntN(4) {
					mode := []enginetest.FaultMode{enginetest.FailBefore, enginetest.FailAfter}[rnd.IntN(2)]
					h.Faults.Set(enginetest.Fault{Call: 1 + rnd.IntN(calls), Mode: mode})
				}
			}
			faults()
			// A death on top: what is recovered is disturbed again.
			h.Faults.Set(enginetest.Fault{Call: 1 + rnd.IntN(calls), Mode: enginetest.CrashAfter})
			run := h.Begin(h.Define(flow.Document), flow.Input, faults)
			run = h.Drive(run.ID, enginetest.Drive{Decide: flow.Decide, Booted: faults})
			h.Stop(h.Engine)
			require.Empty(t, flow.Check(h.Snapshot(run.ID)))
		})
	})
}

// TestPromise19ACallThatComesBackLateChangesNothing promises that a process whose store
// hung until another one took its run over can't write to it any more.
func TestPromise19ACallThatComesBackLateChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		b.seeds(t, 100, func(t *testing.T, seed uint64) {
			b := b.fresh()
			rnd := rand.New(rand.NewPCG(seed, 20))
			flow := enginetest.Generate(seed, enginetest.Shape{Steps: 60, NoPeople: true})
			h := b.harness(t, true, engine.Config{}, &enginetest.Probe{Quiet: true, Do: flow.Effect})
			mode := []enginetest.FaultMode{enginetest.HangBefore, enginetest.HangAfter}[rnd.IntN(2)]
			h.Faults.Set(enginetest.Fault{Method: "Commit", Call: 1 + rnd.IntN(max(1, b.calls(t, flow)-3)), Mode: mode})
			first, store := h.Engine, h.Faults
			run := h.Start(flow.Document, flow.Input)
			if hangs(h, run.ID) {
				h.Boot()
				run = h.Drive(run.ID, enginetest.Drive{})
				before := h.Snapshot(run.ID)
				store.Release()
				h.Stop(first)
				require.Equal(t, before, h.Snapshot(run.ID))
			}
			h.Stop(h.Engine)
			require.Empty(t, flow.Check(h.Snapshot(run.ID)))
		})
	})
}

// hangs waits until the store hangs, or the run is over without.
func hangs(h *enginetest.Harness, runID string) bool {
	for !h.Snapshot(runID).Run.Status.Terminal() {
		select {
		case <-h.Faults.Hung():
			return true
		case <-h.Faults.Moved():
		}
	}
	h.Faults.Release()
	return false
}
