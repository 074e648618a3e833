package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sluice/engine"
	"sluice/engine/expr"
	"sluice/engine/nodes"
	"sluice/models"
	"sluice/web/auth"
)

// RecipeDraft is what a save of a recipe says. Without an ID it makes a new one.
type RecipeDraft struct {
	ID           string
	Name         string
	Description  string
	Notes        string
	System       string
	Prompt       string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Model        string
	Parameters   json.RawMessage // {"temperature":…, "max_tokens":…}, or nil
}

// parameters tune a recipe's model.
type parameters struct {
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
}

// SaveRecipe makes a recipe, or a new version of one. What does not hold is an
// *engine.InvalidError that names each field.
func (s *Service) SaveRecipe(ctx context.Context, p auth.Principal, d RecipeDraft) (models.Recipe, models.RecipeVersion, error) {
	d.Name = strings.TrimSpace(d.Name)
	if err := s.checkRecipe(d); err != nil {
		return models.Recipe{}, models.RecipeVersion{}, err
	}
	r := models.Recipe{ID: d.ID, AccountID: p.AccountID, Name: d.Name, Description: d.Description}
	v := models.RecipeVersion{
		System: d.System, Prompt: d.Prompt, InputSchema: clean(d.InputSchema), OutputSchema: clean(d.OutputSchema), Model: strings.TrimSpace(d.Model),
		Parameters: clean(d.Parameters), Notes: d.Notes, CreatedBy: p.Name,
	}
	if d.ID == "" {
		return s.DB.CreateRecipe(ctx, r, v)
	}
	return s.DB.AddRecipeVersion(ctx, r, v)
}

func clean(raw json.RawMessage) string {
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

func (s *Service) checkRecipe(d RecipeDraft) error {
	bad := &engine.InvalidError{Message: "the recipe has mistakes"}
	add := func(field, format string, args ...any) {
		bad.Issues = append(bad.Issues, engine.Issue{Code: "invalid", Severity: engine.SeverityError, Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if d.Name == "" {
		add("name", "a recipe needs a name")
	}
	if strings.TrimSpace(d.Prompt) == "" {
		add("prompt", "a recipe needs a prompt")
	}
	texts, err := json.Marshal(map[string]string{"prompt": d.Prompt, "system": d.System})
	if err != nil {
		return fmt.Errorf("check recipe: %w", err)
	}
	_, errs := expr.CompileDocument(texts, expr.Options{})
	for _, e := range errs {
		add(e.Field, "%s", e.Message)
	}
	for field, schema := range map[string]json.RawMessage{"input_schema": d.InputSchema, "output_schema": d.OutputSchema} {
		if clean(schema) == "" {
			continue
		}
		if _, err := s.Registry.Schemas().Check(schema, json.RawMessage("null"), false); err != nil {
			add(field, "%s", err.Error())
		}
	}
	if text := clean(d.Parameters); text != "" {
		var p parameters
		if err := json.Unmarshal([]byte(text), &p); err != nil || p.MaxTokens < 0 {
			add("parameters", "parameters are {\"temperature\": number, \"max_tokens\": whole number}")
		}
	}
	if len(bad.Issues) > 0 {
		return bad
	}
	return nil
}

// Recipes finds recipes for the engine.
type Recipes struct{ DB *models.DB }

var _ nodes.RecipeSource = Recipes{}

// Recipe implements [nodes.RecipeSource].
func (r Recipes) Recipe(ctx context.Context, accountID, nameOrID string, version int) (nodes.Recipe, error) {
	row, err := r.DB.Recipe(ctx, accountID, nameOrID)
	var v models.RecipeVersion
	if err == nil {
		v, err = r.DB.RecipeVersion(ctx, row, version)
	}
	if errors.Is(err, models.ErrNotFound) {
		return nodes.Recipe{}, fmt.Errorf("recipe %q: %w", nameOrID, nodes.ErrNoRecipe)
	}
	if err != nil {
		return nodes.Recipe{}, err
	}
	var p parameters
	if v.Parameters != "" {
		if err := json.Unmarshal([]byte(v.Parameters), &p); err != nil {
			return nodes.Recipe{}, fmt.Errorf("read parameters of recipe %q: %w", nameOrID, err)
		}
	}
	return nodes.Recipe{
		ID: row.ID, Name: row.Name, Version: v.Version, System: v.System, Prompt: v.Prompt, InputSchema: raw(v.InputSchema),
		OutputSchema: raw(v.OutputSchema), Model: v.Model, Temperature: p.Temperature, MaxTokens: p.MaxTokens,
	}, nil
}

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

// CreateToken makes an API token of the person; its text is returned once.
func (s *Service) CreateToken(ctx context.Context, p auth.Principal, name string) (models.APIToken, string, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return models.APIToken{}, "", invalid("name", "a token needs a name")
	}
	t, text, err := s.DB.CreateAPIToken(ctx, models.User{ID: p.UserID, AccountID: p.AccountID}, name)
	if err != nil {
		return t, "", err
	}
	return t, text, s.Audit(ctx, p, "token.created", t.ID, map[string]any{"name": name})
}

// DeleteToken ends an API token of the account.
func (s *Service) DeleteToken(ctx context.Context, p auth.Principal, id string) error {
	if err := s.DB.DeleteAPIToken(ctx, p.AccountID, id); err != nil {
		return err
	}
	if s.Ended != nil {
		s.Ended(auth.TokenCredential(id))
	}
	return s.Audit(ctx, p, "token.deleted", id, nil)
}
