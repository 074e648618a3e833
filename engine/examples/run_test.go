package examples_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
	"sluice/engine/examples"
	"sluice/engine/nodes"
)

// recipeSource gives the kinds the embedded recipes.
type recipeSource map[string]nodes.Recipe

func newRecipeSource(t *testing.T) recipeSource {
	t.Helper()
	all, err := examples.Recipes()
	require.NoError(t, err)
	s := recipeSource{}
	for _, r := range all {
		s[r.Name] = nodes.Recipe{
			ID: r.Name, Name: r.Name, Version: 1, System: r.System, Prompt: r.Prompt, InputSchema: r.InputSchema,
			OutputSchema: r.OutputSchema, Temperature: r.Parameters.Temperature, MaxTokens: r.Parameters.MaxTokens,
		}
	}
	return s
}

// Recipe implements [nodes.RecipeSource].
func (s recipeSource) Recipe(_ context.Context, _, name string, _ int) (nodes.Recipe, error) {
	r, ok := s[name]
	if !ok {
		return nodes.Recipe{}, nodes.ErrNoRecipe
	}
	return r, nil
}

// TestExamplesRun runs each example with the demo model, offline, and answers every
// approval with its first outcome.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	registry, err := nodes.Registry(nodes.Deps{Recipes: newRecipeSource(t)})
	require.NoError(t, err)
	all, err := examples.All()
	require.NoError(t, err)
	for _, e := range all {
		t.Run(e.Slug, func(t *testing.T) {
			t.Parallel()
			h := enginetest.New(t, registry, enginetest.Options{})
			// A refused connection instead of an address on the internet.
			input := strings.ReplaceAll(string(e.Input), "https://example.com", "http://127.0.0.1:1")
			run := h.Run(string(e.Definition), input)
			for range 20 {
				if run.Status != engine.RunPendingApproval {
					break
				}
				for _, p := range h.Snapshot(run.ID).Parks {
					h.Answer(run.ID, p.Address, p.Outcomes[0].ID, "fine")
				}
				run = h.Await(run.ID)
			}
			require.Equal(t, engine.RunSucceeded, run.Status, "%v %v", run.Error, h.Statuses(run.ID))
			require.NotEmpty(t, run.Output)
			require.NotEqual(t, "null", string(run.Output))
		})
	}
}
