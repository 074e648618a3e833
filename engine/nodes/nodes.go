package nodes

import (
	"fmt"

	"sluice/engine"
	"sluice/engine/llm"
)

// Deps are what the kinds reach the outside with.
type Deps struct {
	// Models answers model calls. Nil: the demo model.
	Models llm.Provider
	// Recipes finds stored prompt templates. Nil: every recipe step fails, saying
	// that there are none.
	Recipes RecipeSource
	// HTTP bounds what http_request may reach.
	HTTP HTTPOptions
	// More are kinds beside the built-in ones.
	More []engine.Kind
}

// Registry returns the built-in kinds in palette order.
func Registry(d Deps) (*engine.Registry, error) {
	if d.Models == nil {
		d.Models = llm.NewDemo()
	}
	if d.Recipes == nil {
		d.Recipes = noRecipes{}
	}
	schemas := NewSchemas()
	r, err := engine.NewRegistry(schemas, append([]engine.Kind{
		trigger{},
		end{},
		condition{},
		switchKind{},
		loop{},
		parallel{},
		branch{},
		wait{},
		llmCall{models: d.Models, schemas: schemas},
		recipe{models: d.Models, recipes: d.Recipes, schemas: schemas},
		approval{},
		set{},
		newHTTPRequest(d.HTTP),
	}, d.More...)...)
	if err != nil {
		return nil, fmt.Errorf("register the built-in kinds: %w", err)
	}
	return r, nil
}
