package llmtest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine/llm"
)

// Schema is what the suite asks structured answers for.
const Schema = `{"type":"object","required":["name","score"],"properties":{"name":{"type":"string"},"score":{"type":"integer","minimum":1,"maximum":9}}}`

// Run is the suite that every provider must pass. The provider must answer plain
// requests with some text, and requests with [Schema] with JSON that fits it.
func Run(t *testing.T, p llm.Provider) {
	t.Helper()
	t.Run("deltas add up to the text", func(t *testing.T) {
		t.Parallel()
		var streamed strings.Builder
		resp, err := p.Complete(t.Context(), llm.Request{Prompt: "hello"}, func(s string) { streamed.WriteString(s) })
		require.NoError(t, err)
		require.NotEmpty(t, resp.Text)
		require.Equal(t, resp.Text, streamed.String())
		require.Equal(t, "stop", resp.FinishReason)
		require.NotEmpty(t, resp.Model)
		require.Positive(t, resp.Usage.InputTokens)
		require.Positive(t, resp.Usage.OutputTokens)
		require.Nil(t, resp.JSON)
	})
	t.Run("streaming is optional", func(t *testing.T) {
		t.Parallel()
		resp, err := p.Complete(t.Context(), llm.Request{Prompt: "hello"}, nil)
		require.NoError(t, err)
		require.NotEmpty(t, resp.Text)
	})
	t.Run("structured output", func(t *testing.T) {
		t.Parallel()
		resp, err := p.Complete(t.Context(), llm.Request{Prompt: "hello", Schema: json.RawMessage(Schema)}, nil)
		require.NoError(t, err)
		var v struct {
			Name  *string `json:"name"`
			Score int     `json:"score"`
		}
		require.NoError(t, json.Unmarshal(resp.JSON, &v))
		require.NotNil(t, v.Name)
		require.GreaterOrEqual(t, v.Score, 1)
		require.LessOrEqual(t, v.Score, 9)
	})
	t.Run("a cancelled context ends the call", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := p.Complete(ctx, llm.Request{Prompt: "hello"}, func(string) {})
		require.ErrorIs(t, err, context.Canceled)
	})
}
