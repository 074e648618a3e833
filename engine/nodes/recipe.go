package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sluice/engine"
	"sluice/engine/expr"
	"sluice/engine/llm"
)

// ErrNoRecipe is returned by a [RecipeSource] that has no such recipe or version.
var ErrNoRecipe = errors.New("no such recipe")

// Recipe is one version of a stored prompt template. In System and Prompt the
// inputs are variables: {{text}} is the input "text".
type Recipe struct {
	ID           string
	Name         string
	Version      int
	System       string
	Prompt       string
	InputSchema  json.RawMessage // or nil
	OutputSchema json.RawMessage // or nil
	Model        string          // empty: the default model
	Temperature  *float64
	MaxTokens    int
}

// RecipeSource finds recipes of an account by name or id. Version 0 is the latest.
// The error wraps [ErrNoRecipe] where there is none.
type RecipeSource interface {
	Recipe(ctx context.Context, accountID, nameOrID string, version int) (Recipe, error)
}

type noRecipes struct{}

// Recipe implements [RecipeSource].
func (noRecipes) Recipe(context.Context, string, string, int) (Recipe, error) {
	return Recipe{}, ErrNoRecipe
}

// recipe runs a stored prompt template against a model.
type recipe struct {
	models  llm.Provider
	recipes RecipeSource
	schemas *Schemas
}

var _ engine.Kind = recipe{}

// Spec implements [engine.Kind].
func (recipe) Spec() engine.Spec {
	return engine.Spec{
		Type: "recipe", Title: "Recipe", Group: "AI", Icon: "book-open-text", Class: engine.Effect,
		Summary:   "Runs a stored prompt; its parsed answer is the output.",
		ResultKey: "text", Timeout: engine.DefaultModelTimeout,
		Config: json.RawMessage(`{
			"type": "object", "additionalProperties": false, "required": ["recipe"],
			"properties": {
				"recipe": {"type": "string", "title": "Recipe", "minLength": 1, "x-mode": "literal", "x-ui": {"widget": "recipe"}},
				"inputs": {"type": "object", "title": "Inputs", "description": "Values for the recipe's {{…}}.", "additionalProperties": true, "x-ui": {"widget": "keyvalue"}},
				"version": {"type": "integer", "title": "Version", "description": "Empty: always the latest.", "minimum": 1, "x-ui": {"advanced": true}}
			}
		}`),
		Aliases: map[string]string{"recipeId": "recipe", "recipe_id": "recipe", "input": "inputs", "recipeVersion": "version"},
	}
}

type recipeConfig struct {
	Recipe  string          `json:"recipe"`
	Inputs  json.RawMessage `json:"inputs"`
	Version int             `json:"version"`
}

// Execute implements [engine.Kind].
func (k recipe) Execute(ctx context.Context, in engine.Input) (engine.Output, error) {
	var c recipeConfig
	if err := in.Decode(&c); err != nil {
		return engine.Output{}, err
	}
	r, err := k.recipes.Recipe(ctx, in.AccountID, c.Recipe, c.Version)
	if errors.Is(err, ErrNoRecipe) {
		return engine.Output{}, engine.Fatalf("no_recipe", "there is no recipe %q%s", c.Recipe, versionWords(c.Version))
	}
	if err != nil {
		return engine.Output{}, fmt.Errorf("load recipe %s: %w", c.Recipe, err)
	}
	in.Trace("recipe", map[string]any{"id": r.ID, "name": r.Name, "version": r.Version})
	req, err := k.request(ctx, r, c.Inputs)
	if err != nil {
		return engine.Output{}, err
	}
	resp, err := ask(ctx, in, k.models, k.schemas, req)
	out := engine.Output{Usage: usage(resp)}
	if err != nil {
		return out, err
	}
	if len(req.Schema) > 0 {
		out.Value = resp.JSON
	} else {
		out.Value = map[string]any{"text": resp.Text}
	}
	return out, nil
}

func versionWords(version int) string {
	if version == 0 {
		return ""
	}
	return fmt.Sprintf(" with a version %d", version)
}

// request fills the recipe's templates with the inputs.
func (k recipe) request(ctx context.Context, r Recipe, inputs json.RawMessage) (llm.Request, error) {
	if len(orNil(inputs)) == 0 {
		inputs = json.RawMessage(`{}`)
	}
	if len(orNil(r.InputSchema)) > 0 {
		problems, err := k.schemas.Check(r.InputSchema, inputs, false)
		if err != nil {
			return llm.Request{}, engine.Fatal(engine.CodeConfig, fmt.Errorf("input schema of recipe %s: %w", r.Name, err))
		}
		if len(problems) > 0 {
			return llm.Request{}, engine.Fatalf(engine.CodeConfig, "recipe %s: input %s %s", r.Name, problems[0].Path, problems[0].Message)
		}
	}
	text, err := renderRecipe(ctx, r, inputs)
	if err != nil {
		return llm.Request{}, engine.Fatal(engine.CodeTemplate, fmt.Errorf("recipe %s: %w", r.Name, err))
	}
	return llm.Request{
		Model: r.Model, System: text.System, Prompt: text.Prompt, Schema: orNil(r.OutputSchema),
		Temperature: r.Temperature, MaxTokens: r.MaxTokens,
	}, nil
}

// recipeText is the part of a recipe that holds templates.
type recipeText struct {
	System string `json:"system"`
	Prompt string `json:"prompt"`
}

func renderRecipe(ctx context.Context, r Recipe, inputs json.RawMessage) (recipeText, error) {
	raw, err := expr.Encode(recipeText{System: r.System, Prompt: r.Prompt})
	if err != nil {
		return recipeText{}, fmt.Errorf("encode the template: %w", err)
	}
	doc, problems := expr.CompileDocument(raw, expr.Options{ModeAt: func(string) expr.Mode { return expr.ModeText }})
	if len(problems) > 0 {
		return recipeText{}, problems[0]
	}
	v, err := expr.Decode(inputs)
	if err != nil {
		return recipeText{}, fmt.Errorf("read the inputs: %w", err)
	}
	object, ok := v.(*expr.Object)
	if !ok {
		return recipeText{}, fmt.Errorf("inputs must be an object, not %s", typeName(v))
	}
	rendered, err := doc.Render(ctx, recipeEnv{object})
	if err != nil {
		return recipeText{}, err
	}
	var out recipeText
	if err := json.Unmarshal(rendered, &out); err != nil {
		return recipeText{}, fmt.Errorf("read the rendered template: %w", err)
	}
	return out, nil
}

// recipeEnv shows a recipe its inputs and nothing else.
type recipeEnv struct{ inputs *expr.Object }

// Resolve implements [expr.Env].
func (e recipeEnv) Resolve(ref expr.Ref) (any, error) {
	switch ref.Root {
	case expr.RootVar:
		if v, ok := e.inputs.Get(ref.Name); ok {
			return v, nil
		}
		return nil, &expr.MissingError{Path: ref.Name, Reason: "the step gives no such input"}
	case expr.RootVars:
		if ref.Name == "" {
			return e.inputs, nil
		}
		if v, ok := e.inputs.Get(ref.Name); ok {
			return v, nil
		}
		return nil, &expr.MissingError{Path: "vars." + ref.Name, Reason: "the step gives no such input"}
	default:
		return nil, &expr.MissingError{Path: string(ref.Root) + "." + ref.Name, Reason: "a recipe sees its inputs only"}
	}
}
