package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

func TestAFailingLoopLeavesNoWaitOfAnyIterationOpen(t *testing.T) {
	t.Parallel()
	for name, loop := range map[string]string{"times": `"times":6,"concurrency":2`, "two loops": `"times":1`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := harness(t, &enginetest.Probe{})
			body, at := `{"id":"ok","type":"approval","parent":"each"}`, "each"
			if name == "two loops" {
				body, at = `{"id":"inner","type":"loop","parent":"each","config":{"times":6,"concurrency":2}},{"id":"ok","type":"approval","parent":"inner"}`, "each[0]/inner"
			}
			run := h.Run(flow(`{"id":"start","type":"trigger"},{"id":"each","type":"loop","config":{`+loop+`}},`+body, `{"source":"start","target":"each"}`), `{}`)
			h.Answer(run.ID, at+"[0]/ok", "approve", "")
			for len(h.Snapshot(run.ID).Parks) < 2 { // the third iteration is open
				h.Await(run.ID)
			}
			h.Answer(run.ID, at+"[1]/ok", "reject", "")
			run = awaitTerminal(t, h, run.ID)
			require.Equal(t, engine.RunRejected, run.Status)
			require.Empty(t, h.Snapshot(run.ID).Parks)
			require.Equal(t, engine.StepCancelled, h.Step(run.ID, at+"[2]/ok").Status)
		})
	}
}
