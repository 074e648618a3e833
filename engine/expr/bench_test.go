package expr

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func BenchmarkDecode(b *testing.B) {
	raw := []byte(world)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	v, err := Decode([]byte(world))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Encode(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRenderPath(b *testing.B) {
	benchmarkRender(b, `{"v":"{{step.a.b[0]}}"}`)
}

func BenchmarkRenderDocument(b *testing.B) {
	benchmarkRender(b, `{"url":"https://x/{{workflow_input.name}}","headers":[{"name":"a","value":"{{step.a.text}}"}],
		"body":{"x":"{{step.a}}","n":[1,2,{"k":"static"}]}}`)
}

func benchmarkRender(b *testing.B, config string) {
	b.Helper()
	env := newEnv(b, world)
	doc, errs := CompileDocument(json.RawMessage(config), Options{})
	require.Empty(b, errs)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := doc.Render(b.Context(), env); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExpression(b *testing.B) {
	env := newEnv(b, world)
	e, err := CompileExpression("(loop_item.amount ?? 0) > 3 or workflow_input.name == 'Mai'", Options{})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.EvalBool(b.Context(), env); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileExpression(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := CompileExpression("step.legal-note.text contains 'x' and loop_index > 1", Options{Steps: knownSteps}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkManyPlaceholders(b *testing.B) {
	raw, err := Encode(strings.Repeat("{{ workflow_input.name }} ", 10_000))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := CompileDocument(raw, Options{}); len(errs) > 0 {
			b.Fatal(errs[0])
		}
	}
}
