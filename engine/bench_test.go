package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

func BenchmarkChainOfEffects(b *testing.B) {
	h := harness(b, &enginetest.Probe{})
	nodes, edges, last := `{"id":"start","type":"trigger"}`, "", "start"
	var edgesSb30 strings.Builder
	var nodesSb30 strings.Builder
	for i := range 40 {
		id := fmt.Sprintf("s%d", i)
		fmt.Fprintf(&nodesSb30, `,{"id":%q,"type":"probe","config":{"value":"{{run.id}}"}}`, id)
		fmt.Fprintf(&edgesSb30, `{"source":%q,"target":%q},`, last, id)
		last = id
	}
	edges += edgesSb30.String()
	nodes += nodesSb30.String()
	doc := flow(nodes+`,{"id":"end","type":"end"}`, edges+fmt.Sprintf(`{"source":%q,"target":"end"}`, last))
	b.ResetTimer()
	for range b.N {
		run := h.Run(doc, `{}`)
		require.Equal(b, engine.RunSucceeded, run.Status)
	}
}

func BenchmarkLoopOfPureSteps(b *testing.B) {
	h := harness(b, &enginetest.Probe{})
	doc := flow(`{"id":"start","type":"trigger"},{"id":"each","type":"loop","config":{"times":1000}},
		{"id":"a","type":"set","parent":"each","config":{"values":{"i":"{{loop_index}}"}}},{"id":"b","type":"set","parent":"each","config":{"values":{"i":"{{step.a.i + 1}}"}}},
		{"id":"end","type":"end"}`, `{"source":"start","target":"each"},{"source":"a","target":"b"},{"source":"each","target":"end"}`)
	b.ResetTimer()
	for range b.N {
		run := h.Run(doc, `{}`)
		require.Equal(b, engine.RunSucceeded, run.Status)
	}
}
