package nodes

import (
	"context"
	"encoding/json"
	"fmt"

	"sluice/engine"
)

// switchKind takes the path of the first case that holds.
type switchKind struct{}

var (
	_ engine.Kind            = switchKind{}
	_ engine.ConfigValidator = switchKind{}
)

// Spec implements [engine.Kind].
func (switchKind) Spec() engine.Spec {
	return engine.Spec{
		Type: "switch", Title: "Switch", Group: "Flow", Icon: "split", Class: engine.Pure,
		Summary:     "Takes the path of the first case that holds.",
		Handles:     []engine.Handle{{ID: "default", Label: "Otherwise"}},
		HandlesFrom: "cases",
		Config: json.RawMessage(`{
			"type": "object", "additionalProperties": false, "required": ["cases"],
			"properties": {
				"cases": {"type": "array", "title": "Cases", "minItems": 1, "x-ui": {"widget": "list"}, "items": {
					"type": "object", "additionalProperties": false, "required": ["id", "when"],
					"properties": {
						"label": {"type": "string", "title": "Label", "x-mode": "literal"},
						"id": {"type": "string", "title": "Id", "minLength": 1, "x-mode": "literal"},
						"when": {"type": "string", "title": "When", "minLength": 1, "x-mode": "expression", "x-ui": {"widget": "expression", "placeholder": "step.score.value > 0.8"}}
					}}}
			}
		}`),
		Output: json.RawMessage(`{"type":"object","properties":{"case":{"type":"string"}}}`),
	}
}

type switchConfig struct {
	Cases []struct {
		ID    string `json:"id"`
		Label string `json:"label"`
		When  string `json:"when"`
	} `json:"cases"`
}

// ValidateConfig implements [engine.ConfigValidator].
func (switchKind) ValidateConfig(config json.RawMessage) []engine.Issue {
	var c switchConfig
	if json.Unmarshal(config, &c) != nil {
		return nil // the schema says what is wrong
	}
	ids := make([]string, len(c.Cases))
	for i, k := range c.Cases {
		ids[i] = k.ID
	}
	return handleIssues("cases", ids, "default")
}

// handleIssues reports ids that can't be handles: doubled or reserved ones.
func handleIssues(field string, ids []string, reserved ...string) []engine.Issue {
	seen := map[string]bool{engine.HandleError: true, engine.HandleAny: true}
	for _, id := range reserved {
		seen[id] = true
	}
	var out []engine.Issue
	for i, id := range ids {
		if seen[id] {
			out = append(out, engine.Issue{
				Code: "duplicate_handle", Field: fmt.Sprintf("%s[%d].id", field, i),
				Message: fmt.Sprintf("the id %q is taken or reserved", id), Fix: "Give it an id of its own.",
			})
		}
		seen[id] = true
	}
	return out
}

// Execute implements [engine.Kind].
func (switchKind) Execute(ctx context.Context, in engine.Input) (engine.Output, error) {
	var c switchConfig
	if err := in.Decode(&c); err != nil {
		return engine.Output{}, err
	}
	chosen := "default"
	for i, k := range c.Cases {
		e := in.Expr(fmt.Sprintf("cases[%d].when", i))
		if e == nil {
			continue
		}
		ok, err := e.EvalBool(ctx, in.Env)
		if err != nil {
			return engine.Output{}, engine.Fatal(engine.CodeTemplate, fmt.Errorf("case %q: %w", k.ID, err))
		}
		if ok {
			chosen = k.ID
			break
		}
	}
	return engine.Output{Value: map[string]any{"case": chosen}, Handle: chosen}, nil
}
