package promises_test

import (
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
