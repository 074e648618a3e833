package nodes

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine/llm"
)

func TestLLMCall(t *testing.T) {
	t.Parallel()
	k := llmCall{schemas: NewSchemas(), models: modelFunc(func(req llm.Request) (llm.Response, error) {
		require.Equal(t, "run/node", req.IdempotencyKey)
		if req.Schema != nil {
			return llm.Response{Text: `{"n":1}`, JSON: json.RawMessage(`{"n":1}`), Model: "m", FinishReason: "stop"}, nil
		}
		return llm.Response{Text: "re: " + req.Prompt, Model: "m", FinishReason: "stop", Usage: llm.Usage{InputTokens: 3, OutputTokens: 2}}, nil
	})}
	out, err := execute(t, k, `{"prompt":"p","system":"s"}`, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"text":"re: p","model":"m","finish_reason":"stop","usage":{"input_tokens":3,"output_tokens":2}}`, encoded(t, out.Value))
	require.Equal(t, int64(1), out.Usage.ModelCalls)

	out, err = execute(t, k, `{"prompt":"p","output":{"type":"object"}}`, nil)
	require.NoError(t, err)
	require.Contains(t, encoded(t, out.Value), `"json":{"n":1}`)

	_, err = execute(t, k, `{"prompt":"p","output":{"required":["m"]}}`, nil)
	require.ErrorContains(t, err, "m is missing")
	_, err = execute(t, k, `{"prompt":" "}`, nil)
	require.ErrorContains(t, err, "empty")
}

type recipeFunc func(name string, version int) (Recipe, error)

func (f recipeFunc) Recipe(_ context.Context, _, name string, version int) (Recipe, error) {
	return f(name, version)
}

func TestRecipe(t *testing.T) {
	t.Parallel()
	k := recipe{
		schemas: NewSchemas(),
		models: modelFunc(func(req llm.Request) (llm.Response, error) {
			return llm.Response{Text: req.Prompt, JSON: json.RawMessage(`{"ok":true}`)}, nil
		}),
		recipes: recipeFunc(func(name string, _ int) (Recipe, error) {
			r := Recipe{Name: name, Prompt: "Sort {{text}}", InputSchema: json.RawMessage(`{"required":["text"]}`)}
			switch name {
			case "plain":
			case "parsed":
				r.OutputSchema = json.RawMessage(`{"type":"object"}`)
			case "outside":
				r.Prompt = "{{step.a.text}}"
			default:
				return Recipe{}, ErrNoRecipe
			}
			return r, nil
		}),
	}
	tests := []struct{ config, want, fails string }{
		{config: `{"recipe":"plain","inputs":{"text":"{{step.x}}"}}`, want: `{"text":"Sort {{step.x}}"}`},
		{config: `{"recipe":"parsed","inputs":{"text":1}}`, want: `{"ok":true}`},
		{config: `{"recipe":"plain"}`, fails: "text is missing"},
		{config: `{"recipe":"outside","inputs":{"text":1}}`, fails: "sees its inputs only"},
		{config: `{"recipe":"none","version":3}`, fails: `there is no recipe "none" with a version 3`},
	}
	for _, tt := range tests {
		out, err := execute(t, k, tt.config, nil)
		if tt.fails != "" {
			require.ErrorContains(t, err, tt.fails, tt.config)
			continue
		}
		require.NoError(t, err, tt.config)
		require.JSONEq(t, tt.want, encoded(t, out.Value))
	}
}

func TestSchemasCheck(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","additionalProperties":false,"required":["n"],"properties":{"n":{"type":"integer","minimum":1},"e":{"enum":["a","b"]},"l":{"type":"array","items":{"type":"object","required":["id"]}},"u":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`
	tests := []struct {
		value   string
		lenient bool
		path    string // "" fits
		message string
	}{
		{value: `{"n":1}`},
		{value: `{}`, path: "n", message: "is missing"},
		{value: `{"n":1,"x":1}`, path: "x", message: "is not a known field"},
		{value: `{"n":"1"}`, path: "n", message: "must be a whole number, not text"},
		{value: `{"n":0}`, path: "n", message: "must be at least 1"},
		{value: `{"n":1,"e":"c"}`, path: "e", message: `must be one of "a", "b"`},
		{value: `{"n":1,"l":[{"id":1},{}]}`, path: "l[1].id", message: "is missing"},
		{value: `{"n":1,"u":5}`, path: "u", message: "must be text, not a number"},
		{value: `{"n":"{{x}}","e":"{{y}}","l":"{{z}}"}`, lenient: true},
		{value: `{"n":"{{x}}"}`, path: "n", message: "must be a whole number, not text"},
		{value: `{"n":"{{x}}","y":1}`, lenient: true, path: "y", message: "is not a known field"},
	}
	s := NewSchemas()
	for _, tt := range tests {
		problems, err := s.Check(json.RawMessage(schema), json.RawMessage(tt.value), tt.lenient)
		require.NoError(t, err)
		if tt.path == "" {
			require.Empty(t, problems, tt.value)
			continue
		}
		require.Len(t, problems, 1, tt.value)
		require.Equal(t, [2]string{tt.path, tt.message}, [2]string{problems[0].Path, problems[0].Message})
	}
	_, err := s.Check(json.RawMessage(`{"$ref":"https://example.com/x.json"}`), json.RawMessage(`1`), false)
	require.ErrorContains(t, err, "another document")
}
