package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/models"
	"sluice/web/app"
	"sluice/web/auth"
)

// Recipe is a prompt template with its latest version.
type Recipe struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Version     int       `json:"version"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	*RecipeText
}

// RecipeText is what a version of a recipe says.
type RecipeText struct {
	System       string          `json:"system"`
	Prompt       string          `json:"prompt"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	Model        string          `json:"model"`
	Parameters   json.RawMessage `json:"parameters,omitempty"`
}

// RecipeVersion is an immutable version.
type RecipeVersion struct {
	Version   int       `json:"version"`
	Notes     string    `json:"notes"`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	RecipeText
}

// recipeInput is what a save sends.
type recipeInput struct {
	Name        string `json:"name" minLength:"1" maxLength:"200"`
	Description string `json:"description,omitempty"`
	Notes       string `json:"notes,omitempty"`
	RecipeText
}

func textOf(v models.RecipeVersion) RecipeText {
	return RecipeText{
		System: v.System, Prompt: v.Prompt, InputSchema: rawOf(v.InputSchema), OutputSchema: rawOf(v.OutputSchema), Model: v.Model, Parameters: rawOf(v.Parameters),
	}
}

func recipeOf(r models.Recipe, v *models.RecipeVersion) Recipe {
	out := Recipe{ID: r.ID, Name: r.Name, Description: r.Description, Version: r.LatestVersion, CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time}
	if v != nil {
		text := textOf(*v)
		out.RecipeText = &text
	}
	return out
}

func (in recipeInput) draft(id string) app.RecipeDraft {
	return app.RecipeDraft{
		ID: id, Name: in.Name, Description: in.Description, Notes: in.Notes, System: in.System, Prompt: in.Prompt,
		InputSchema: in.InputSchema, OutputSchema: in.OutputSchema, Model: in.Model, Parameters: in.Parameters,
	}
}

func (h *handlers) recipes(api huma.API) {
	huma.Register(api, op("GET", "/recipes", "list-recipes", "List recipes", 200), h.listRecipes)
	huma.Register(api, op("POST", "/recipes", "create-recipe", "Store a recipe", 201), func(ctx context.Context, in *struct{ Body recipeInput }) (*body[Recipe], error) {
		return h.saveRecipe(ctx, in.Body.draft(""))
	})
	huma.Register(api, op("GET", "/recipes/{id}", "get-recipe", "Get a recipe", 200), h.getRecipe)
	huma.Register(api, op("PUT", "/recipes/{id}", "save-recipe", "Make a new version of a recipe", 200), func(ctx context.Context, in *struct {
		IDPath
		Body recipeInput
	},
	) (*body[Recipe], error) {
		return h.saveRecipe(ctx, in.Body.draft(in.ID))
	})
	huma.Register(api, op("GET", "/recipes/{id}/versions", "list-recipe-versions", "List a recipe's versions", 200), h.recipeVersions)
}

func (h *handlers) listRecipes(ctx context.Context, in *struct {
	Page
	Search string `query:"q"`
},
) (*body[list[Recipe]], error) {
	p, _ := auth.From(ctx)
	rows, next, err := h.App.DB.Recipes(ctx, models.RecipeQuery{AccountID: p.AccountID, Search: in.Search, Cursor: in.Cursor, Limit: in.Limit})
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	out := list[Recipe]{Items: make([]Recipe, len(rows)), NextCursor: next}
	for i, r := range rows {
		out.Items[i] = recipeOf(r, nil)
	}
	return answer(out), nil
}

func (h *handlers) saveRecipe(ctx context.Context, d app.RecipeDraft) (*body[Recipe], error) {
	p, _ := auth.From(ctx)
	r, v, err := h.App.SaveRecipe(ctx, p, d)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	return answer(recipeOf(r, &v)), nil
}

func (h *handlers) getRecipe(ctx context.Context, in *IDPath) (*body[Recipe], error) {
	p, _ := auth.From(ctx)
	r, err := h.App.DB.Recipe(ctx, p.AccountID, in.ID)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	v, err := h.App.DB.RecipeVersion(ctx, r, 0)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	return answer(recipeOf(r, &v)), nil
}

func (h *handlers) recipeVersions(ctx context.Context, in *IDPath) (*body[list[RecipeVersion]], error) {
	p, _ := auth.From(ctx)
	r, err := h.App.DB.Recipe(ctx, p.AccountID, in.ID)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	rows, err := h.App.DB.RecipeVersions(ctx, p.AccountID, r.ID)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	out := list[RecipeVersion]{Items: make([]RecipeVersion, len(rows))}
	for i, v := range rows {
		out.Items[i] = RecipeVersion{Version: v.Version, Notes: v.Notes, CreatedBy: v.CreatedBy, CreatedAt: v.CreatedAt.Time, RecipeText: textOf(v)}
	}
	return answer(out), nil
}
