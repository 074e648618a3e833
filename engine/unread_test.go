package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

func TestARunWaitsForADefinitionThatCannotBeReadNow(t *testing.T) {
	t.Parallel()
	h := enginetest.New(t, registry(t, &enginetest.Probe{}), enginetest.Options{Faulty: true})
	h.Faults.Set(enginetest.Fault{Method: "Definition", Call: 1, Mode: enginetest.FailBefore})
	run := h.Drive(h.Start(chain(`{"id":"a","type":"probe"}`), `{}`).ID, enginetest.Drive{})
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
}
