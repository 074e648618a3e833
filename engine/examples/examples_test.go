package examples_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/examples"
	"sluice/engine/nodes"
)

func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	registry, err := nodes.Registry(nodes.Deps{})
	require.NoError(t, err)
	all, err := examples.All()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 6)
	for _, e := range all {
		t.Run(e.Slug, func(t *testing.T) {
			t.Parallel()
			def, issues, err := engine.Import(e.Definition, registry)
			require.NoError(t, err)
			require.Empty(t, issues)
			require.Empty(t, engine.Validate(def, registry))
			require.NotEmpty(t, e.Description)
			for _, n := range def.Nodes {
				require.NotEmpty(t, n.Label, n.ID)
				require.NotNil(t, n.Position, n.ID)
			}
			if len(def.InputSchema) > 0 {
				problems, err := registry.Schemas().Check(def.InputSchema, e.Input, false)
				require.NoError(t, err)
				require.Empty(t, problems)
			}
		})
	}
}

func TestRecipes(t *testing.T) {
	t.Parallel()
	all, err := examples.Recipes()
	require.NoError(t, err)
	schemas := nodes.NewSchemas()
	for _, r := range all {
		require.NotEmpty(t, r.Prompt, r.Name)
		require.NoError(t, schemas.CompileError(r.InputSchema), r.Name)
		require.NoError(t, schemas.CompileError(r.OutputSchema), r.Name)
	}
}
