package llm_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine/llm"
	"sluice/engine/llm/llmtest"
)

const key = "sk-very-secret"

func open(t *testing.T, s *llmtest.Server) *llm.OpenAI {
	t.Helper()
	p, err := llm.NewOpenAI(llm.OpenAIConfig{Key: key, BaseURL: s.URL})
	require.NoError(t, err)
	return p
}

func TestOpenAIConformance(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t)
	s.Answer(func(r llmtest.Request) llmtest.Reply {
		if len(r.Body.ResponseFormat) > 0 {
			return llmtest.Reply{Text: `{"name":"唐辛子","score":3}`, Split: 7}
		}
		return llmtest.Reply{Text: "hello 🌶", Split: 5}
	})
	llmtest.Run(t, open(t, s))
}

func TestOpenAIAnswers(t *testing.T) {
	t.Parallel()
	event := func(s string) string { return "data: " + s + "\n\n" }
	delta := func(s string) string {
		return event(`{"model":"m","choices":[{"index":0,"delta":{"content":` + s + `}}]}`)
	}
	stop := event(`{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	tests := []struct {
		name  string
		reply llmtest.Reply
		text  string
		code  string // of the error
		retry bool
	}{
		{name: "one byte at a time", reply: llmtest.Reply{Text: "héllo 唐辛子 🌶\n\"q\"", Split: 1}, text: "héllo 唐辛子 🌶\n\"q\""},
		{name: "no stream", reply: llmtest.Reply{Text: "plain", Whole: true}, text: "plain"},
		{name: "no done", reply: llmtest.Reply{Text: "x", NoDone: true}, text: "x"},
		{name: "surrogates split over events", reply: llmtest.Reply{Raw: delta(`"\ud83c\udf36"`) + stop}, text: "🌶"},
		{name: "several data lines", reply: llmtest.Reply{Raw: "data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n"}, text: "a"},
		{name: "no empty line at the end", reply: llmtest.Reply{Raw: delta(`"a"`) + strings.TrimSpace(stop)}, text: "a"},
		{name: "data without a space", reply: llmtest.Reply{Raw: strings.ReplaceAll(delta(`"a"`)+stop, "data: ", "data:")}, text: "a"},
		{name: "other choices are left out", reply: llmtest.Reply{Raw: event(`{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"}]}`) + delta(`"a"`) + stop}, text: "a"},
		{name: "cut", reply: llmtest.Reply{Text: "a long answer", CutAfter: 400}, text: "a ", code: llm.CodeUnavailable, retry: true},
		{name: "ends without a finish", reply: llmtest.Reply{Text: "half", Finish: "-"}, text: "half", code: llm.CodeUnavailable, retry: true},
		{name: "empty", reply: llmtest.Reply{Raw: stop}, code: llm.CodeBadOutput, retry: true},
		{name: "too long", reply: llmtest.Reply{Text: "a", Finish: "length"}, text: "a", code: llm.CodeLength},
		{name: "filtered", reply: llmtest.Reply{Text: "a", Finish: "content_filter"}, text: "a", code: llm.CodeFiltered},
		{name: "refused", reply: llmtest.Reply{Raw: event(`{"choices":[{"index":0,"delta":{"refusal":"no"},"finish_reason":"stop"}]}`)}, code: llm.CodeFiltered},
		{name: "error in the stream", reply: llmtest.Reply{Raw: delta(`"a"`) + event(`{"error":{"message":"overloaded"}}`)}, text: "a", code: llm.CodeUnavailable, retry: true},
		{name: "broken event", reply: llmtest.Reply{Raw: event(`{"choices`) + stop}, code: llm.CodeProtocol, retry: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resp, err := open(t, llmtest.NewServer(t, tt.reply)).Complete(t.Context(), llm.Request{Model: "m", Prompt: "p"}, nil)
			if tt.code == "" {
				require.NoError(t, err)
				require.Equal(t, tt.text, resp.Text)
				return
			}
			var e *llm.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.code, e.Code)
			require.Equal(t, tt.retry, e.Retryable)
			require.True(t, strings.HasPrefix(resp.Text, tt.text), "%q", resp.Text)
		})
	}
}

func TestOpenAIStatuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int
		body   string
		header map[string]string
		code   string
		retry  bool
		after  time.Duration
		says   string
	}{
		{name: "rate limit in seconds", status: 429, header: map[string]string{"Retry-After": "7"}, code: llm.CodeRateLimited, retry: true, after: 7 * time.Second},
		{name: "rate limit in ms", status: 429, header: map[string]string{"Retry-After-Ms": "250", "Retry-After": "7"}, code: llm.CodeRateLimited, retry: true, after: 250 * time.Millisecond},
		{name: "no money", status: 429, body: `{"error":{"message":"pay","type":"insufficient_quota"}}`, code: llm.CodeRateLimited, says: "pay"},
		{name: "server error", status: 500, body: "oops", code: llm.CodeUnavailable, retry: true, says: "oops"},
		{name: "gateway page", status: 502, body: "<!DOCTYPE html><html><head><title>Bad &amp; gateway</title></head></html>", code: llm.CodeUnavailable, retry: true, says: "Bad & gateway"},
		{name: "bad request", status: 400, body: `{"error":{"message":"no such field"}}`, code: llm.CodeRefused, says: "no such field"},
		{name: "key is not shown", status: 401, body: `{"error":{"message":"bad key ` + key + `"}}`, code: llm.CodeAuth, says: "bad key [key]"},
		{name: "unknown model", status: 404, body: `{"error":"no model m"}`, code: llm.CodeUnknown, says: "no model m"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, llmtest.Reply{Status: tt.status, Body: tt.body, Header: tt.header})
			_, err := open(t, s).Complete(t.Context(), llm.Request{Model: "m", Prompt: "p"}, nil)
			var e *llm.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.code, e.Code)
			require.Equal(t, tt.retry, e.Retryable)
			require.Equal(t, tt.after, e.RetryAfter)
			require.Contains(t, e.Error(), tt.says)
			require.NotContains(t, e.Error(), key)
		})
	}
}

func TestOpenAIRequest(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t)
	temperature := 0.0
	_, err := open(t, s).Complete(t.Context(), llm.Request{Model: "m", System: "s", Prompt: "p", Temperature: &temperature, MaxTokens: 5, IdempotencyKey: "r/a"}, nil)
	require.NoError(t, err)
	r := s.Requests()[0]
	require.Equal(t, "Bearer "+key, r.Header.Get("Authorization"))
	require.Equal(t, "r/a", r.Header.Get("Idempotency-Key"))
	require.Equal(t, []any{"m", "s", "p", 5}, []any{r.Body.Model, r.System(), r.Prompt(), r.Body.MaxTokens})
	require.Equal(t, &temperature, r.Body.Temperature)
}

func TestOpenAIWithoutStructuredOutput(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t,
		llmtest.Reply{Status: 400, Body: `{"error":{"message":"response_format is not supported"}}`},
		llmtest.Reply{Text: "```json\n{\"name\":\"a\",\"score\":12345678901234567890}\n```"},
	)
	resp, err := open(t, s).Complete(t.Context(), llm.Request{Prompt: "p", Schema: json.RawMessage(llmtest.Schema)}, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"a","score":12345678901234567890}`, string(resp.JSON))
	require.Contains(t, string(resp.JSON), "12345678901234567890")
	require.Empty(t, s.Requests()[1].Body.ResponseFormat)
	require.Contains(t, s.Requests()[1].System(), `"score"`)
}
