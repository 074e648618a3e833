package engine_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sluice/engine"
)

func TestSpansAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		raw := rapid.SampledFrom([]string{"", `{"a":[1,null,"x"]}`, `9007199254740993`, `"<é>"`})
		when := rapid.SampledFrom([]time.Time{{}, time.UnixMicro(1_700_000_000_123_456).UTC(), time.Unix(1_700_000_000, 0).UTC()})
		s := engine.Span{
			RunID: text.Draw(t, "run"), Seq: rapid.Int64().Draw(t, "seq"), ID: text.Draw(t, "id"), ParentID: text.Draw(t, "parent"),
			Kind: engine.SpanStep, Name: text.Draw(t, "name"), Round: rapid.IntRange(0, 2).Draw(t, "round"), Status: "running",
			Start: when.Draw(t, "start"), End: when.Draw(t, "end"), Input: json.RawMessage(raw.Draw(t, "input")), Output: json.RawMessage(raw.Draw(t, "output")),
		}
		if rapid.Bool().Draw(t, "failed") {
			s.Error = &engine.StepError{Code: "bad", Message: text.Draw(t, "message")}
			s.Usage.InputTokens = 3
			s.Attributes = map[string]json.RawMessage{text.Draw(t, "key"): json.RawMessage(`1`), "handle": json.RawMessage(`"then"`)}
		}
		want, err := json.Marshal(s)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(s.AppendJSON(nil)))
	})
}

func BenchmarkSpanJSON(b *testing.B) {
	s := engine.Span{
		RunID: "01a23218-0d1d-7200-82de-72a252c1b579", Seq: 12, ID: "each[3]/draft", ParentID: "each[3]", Kind: engine.SpanStep, Name: "Draft", NodeID: "draft",
		NodeType: "llm_call", Address: "each[3]/draft", Status: "succeeded", Start: time.Now(), End: time.Now(), Input: json.RawMessage(`{"prompt":"Write about cats"}`),
		Output: json.RawMessage(`{"text":"Cats are …"}`), Attributes: map[string]json.RawMessage{"handle": json.RawMessage(`""`)},
	}
	b.Run("append", func(b *testing.B) {
		var buf []byte
		for b.Loop() {
			buf = s.AppendJSON(buf[:0])
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		for b.Loop() {
			_, _ = json.Marshal(s)
		}
	})
}
