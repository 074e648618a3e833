package nodes

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/expr"
	"sluice/engine/llm"
)

// now is the time in these tests.
var now = time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)

// fakeEnv resolves references from values by root and name.
type fakeEnv map[string]any

func (e fakeEnv) Resolve(ref expr.Ref) (any, error) {
	if v, ok := e[string(ref.Root)+"."+ref.Name]; ok {
		return v, nil
	}
	return nil, &expr.MissingError{Path: ref.Name, Reason: "not in the test"}
}

// execute runs one attempt of a kind with a rendered config.
func execute(t *testing.T, k engine.Kind, config string, env fakeEnv) (engine.Output, error) {
	t.Helper()
	doc, problems := expr.CompileDocument(json.RawMessage(config), expr.Options{ModeAt: func(path string) expr.Mode {
		if path == "expression" || len(path) > 5 && path[len(path)-5:] == ".when" {
			return expr.ModeExpression
		}
		return expr.ModeLiteral
	}})
	require.Empty(t, problems)
	return k.Execute(t.Context(), engine.Input{
		RunID: "run", AccountID: "account", NodeID: "node", Address: "node", Attempt: 1, IdempotencyKey: "run/node",
		Config: json.RawMessage(config), Env: env, Expr: doc.Expression, RunInput: json.RawMessage(`{"n":12345678901234567890}`),
		Emit: func(string) {}, Trace: func(string, any) {}, Now: func() time.Time { return now }, Logger: slog.New(slog.DiscardHandler),
	})
}

// encoded is an output's value as JSON.
func encoded(t *testing.T, v any) string {
	t.Helper()
	if raw, ok := v.(json.RawMessage); ok {
		return string(raw)
	}
	raw, err := expr.Encode(v)
	require.NoError(t, err)
	return string(raw)
}

// modelFunc is a provider that is a function.
type modelFunc func(req llm.Request) (llm.Response, error)

func (f modelFunc) Complete(_ context.Context, req llm.Request, onDelta func(string)) (llm.Response, error) {
	resp, err := f(req)
	onDelta(resp.Text)
	return resp, err
}

func TestSpecs(t *testing.T) {
	t.Parallel()
	r, err := Registry(Deps{})
	require.NoError(t, err)
	schemas := NewSchemas()
	for _, s := range r.Specs() {
		require.NotEmpty(t, s.Title, s.Type)
		require.NotEmpty(t, s.Summary, s.Type)
		require.NotEmpty(t, s.Icon, s.Type)
		require.NoError(t, schemas.CompileError(s.Config), s.Type)
		if s.Output != nil {
			require.NoError(t, schemas.CompileError(s.Output), s.Type)
		}
		for alias, name := range s.Aliases {
			require.Contains(t, string(s.Config), `"`+name+`":`, "%s: %s", s.Type, alias)
		}
	}
}
