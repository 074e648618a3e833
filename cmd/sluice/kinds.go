package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"sluice/engine"
	"sluice/engine/examples"
	"sluice/engine/llm"
	"sluice/engine/nodes"
)

// registry returns the built-in kinds as the settings ask for them.
func registry(cfg *config, recipes nodes.RecipeSource, more ...engine.Kind) (*engine.Registry, error) {
	models, err := llm.NewRouter(llm.Options{OpenAIKey: cfg.OpenAIKey, OpenAIBaseURL: cfg.OpenAIBaseURL, Model: cfg.Model})
	if err != nil {
		return nil, fmt.Errorf("set up models: %w", err)
	}
	return nodes.Registry(nodes.Deps{Models: models, Recipes: recipes, HTTP: nodes.HTTPOptions{AllowPrivate: cfg.AllowPrivate}, More: more})
}

// memoryRecipes are the recipes that runs without a database can use: those of the
// examples.
func memoryRecipes() nodes.RecipeSource { return exampleRecipes{} }

type exampleRecipes struct{}

// Recipe implements [nodes.RecipeSource].
func (exampleRecipes) Recipe(_ context.Context, _, nameOrID string, _ int) (nodes.Recipe, error) {
	all, err := examples.Recipes()
	if err != nil {
		return nodes.Recipe{}, fmt.Errorf("read the built-in recipes: %w", err)
	}
	for _, r := range all {
		if r.Name == nameOrID {
			return nodes.Recipe{
				ID: r.Name, Name: r.Name, Version: 1, System: r.System, Prompt: r.Prompt, InputSchema: r.InputSchema,
				OutputSchema: r.OutputSchema, Temperature: r.Parameters.Temperature, MaxTokens: r.Parameters.MaxTokens,
			}, nil
		}
	}
	return nodes.Recipe{}, fmt.Errorf("recipe %q: %w; runs without --db know the built-in recipes only", nameOrID, nodes.ErrNoRecipe)
}

// logger writes structured lines for people and machines.
func logger(cfg *config, w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: cfg.level()}))
}
