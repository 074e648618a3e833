// Package examples has workflows that a team would really use, and the recipes
// that they need. They are embedded, and each one is validated and run by tests.
package examples

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

//go:embed workflows/*.json recipes/*.json
var files embed.FS

// Example is a workflow in canonical form.
type Example struct {
	// Slug names the example in addresses and on the command line.
	Slug        string
	Name        string
	Description string
	// Definition is the document as it is imported.
	Definition json.RawMessage
	// Input is a sensible input to try it with.
	Input json.RawMessage
}

// Recipe is a stored prompt that the examples use.
type Recipe struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	System       string          `json:"system"`
	Prompt       string          `json:"prompt"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Parameters   Parameters      `json:"parameters"`
}

// Parameters tune a recipe's model; nil and 0 leave the model's default.
type Parameters struct {
	Temperature *float64 `json:"temperature"`
	MaxTokens   int      `json:"max_tokens"`
}

// order is the order in which examples are shown: the simplest first.
func order() []string {
	return []string{
		"content-pipeline", "invoice-approval", "support-triage", "product-copy",
		"lead-scoring", "daily-digest", "release-notes", "incident-review",
	}
}

// All returns the examples, the simplest first. An error means that the binary was
// built from a broken file.
func All() ([]Example, error) {
	var out []Example
	for _, slug := range order() {
		e, err := Get(slug)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// Get returns the example of a slug.
func Get(slug string) (Example, error) {
	raw, err := files.ReadFile("workflows/" + slug + ".json")
	if err != nil {
		return Example{}, fmt.Errorf("example %s: %w", slug, err)
	}
	var doc struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		InputSchema struct {
			Examples []json.RawMessage `json:"examples"`
		} `json:"input_schema"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return Example{}, fmt.Errorf("example %s: %w", slug, err)
	}
	e := Example{Slug: slug, Name: doc.Name, Description: doc.Description, Definition: raw, Input: json.RawMessage(`{}`)}
	if len(doc.InputSchema.Examples) > 0 {
		e.Input = doc.InputSchema.Examples[0]
	}
	return e, nil
}

// Recipes returns the recipes that the examples use, by name.
func Recipes() ([]Recipe, error) {
	entries, err := files.ReadDir("recipes")
	if err != nil {
		return nil, fmt.Errorf("list recipes: %w", err)
	}
	var out []Recipe
	for _, entry := range entries {
		raw, err := files.ReadFile(path.Join("recipes", entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("recipe %s: %w", entry.Name(), err)
		}
		var r Recipe
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, fmt.Errorf("recipe %s: %w", strings.TrimSuffix(entry.Name(), ".json"), err)
		}
		out = append(out, r)
	}
	return out, nil
}
