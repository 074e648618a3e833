package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

func TestSpansTellTheEdgesThatConditionsChose(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	run := awaitTerminal(t, h, h.Start(flow(`{"id":"start","type":"trigger"},{"id":"a","type":"set"},{"id":"b","type":"set"},{"id":"done","type":"end"}`,
		`{"source":"start","target":"a"},{"source":"start","target":"a"},
		{"source":"a","target":"b","condition":"workflow_input.n > 5"},{"source":"a","target":"b","condition":"workflow_input.n < 5"},
		{"source":"a","target":"done","condition":"workflow_input.n == 5"},{"source":"b","target":"done"}`), `{"n":3}`).ID)
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
	a, _ := h.Trace.Span(run.ID, "a")
	require.JSONEq(t, `[3]`, string(a.Attributes["taken"]), "places in the definition, in which the duplicate counts")
	b, _ := h.Trace.Span(run.ID, "b")
	require.NotContains(t, b.Attributes, "taken", "the handle says it already")
}

func TestIterationSpansShowTheirItemAndResult(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	run := awaitTerminal(t, h, h.Start(flow(`{"id":"start","type":"trigger"},{"id":"each","type":"loop","config":{"collection":"{{workflow_input.items}}"}},
		{"id":"p","type":"probe","parent":"each","config":{"value":"{{loop_item.name}}"}}`,
		`{"source":"start","target":"each"}`), `{"items":[{"name":"東京"},{"name":"Đà Nẵng"}]}`).ID)
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
	item, ok := h.Trace.Span(run.ID, "each[1]")
	require.True(t, ok)
	require.JSONEq(t, `{"name":"Đà Nẵng"}`, string(item.Input))
	require.JSONEq(t, `{"value":"Đà Nẵng"}`, string(item.Output))
}
