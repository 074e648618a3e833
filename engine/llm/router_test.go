package llm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine/llm"
	"sluice/engine/llm/llmtest"
)

func TestDemoConformance(t *testing.T) {
	t.Parallel()
	llmtest.Run(t, llm.NewDemo())
}

func TestDemoSaysWhatItIs(t *testing.T) {
	t.Parallel()
	resp, err := llm.NewDemo().Complete(t.Context(), llm.Request{Prompt: "Outline of 唐辛子"}, nil)
	require.NoError(t, err)
	require.Contains(t, resp.Text, "not an AI")
	require.Contains(t, resp.Text, "Outline of 唐辛子")
	again, err := llm.NewDemo().Complete(t.Context(), llm.Request{Prompt: "Outline of 唐辛子"}, nil)
	require.NoError(t, err)
	require.Equal(t, resp, again)
}

func TestRouter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, model, fallback string
		want                  string // what the server is asked for; "" is the demo model
	}{
		{name: "default", want: llm.DefaultModel},
		{name: "setting", fallback: "llama3", want: "llama3"},
		{name: "named", model: "gpt-4o", want: "gpt-4o"},
		{name: "with provider", model: "openai/gpt-4o", want: "gpt-4o"},
		{name: "a slash of the server's own", model: "meta/llama-3", want: "meta/llama-3"},
		{name: "demo", model: "demo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t)
			r, err := llm.NewRouter(llm.Options{OpenAIBaseURL: s.URL, Model: tt.fallback})
			require.NoError(t, err)
			require.False(t, r.Demo())
			resp, err := r.Complete(t.Context(), llm.Request{Model: tt.model, Prompt: "p"}, nil)
			require.NoError(t, err)
			if tt.want == "" {
				require.Equal(t, llm.DemoModel, resp.Model)
				require.Empty(t, s.Requests())
				return
			}
			require.Equal(t, tt.want, s.Requests()[0].Body.Model)
			require.Empty(t, s.Requests()[0].Header.Get("Authorization"))
		})
	}
}

func TestRouterWithoutServer(t *testing.T) {
	t.Parallel()
	r, err := llm.NewRouter(llm.Options{})
	require.NoError(t, err)
	require.True(t, r.Demo())
	resp, err := r.Complete(t.Context(), llm.Request{Model: "gpt-4o", Prompt: "p"}, nil)
	require.NoError(t, err)
	require.Equal(t, llm.DemoModel, resp.Model)
}
