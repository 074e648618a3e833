package nodes

import (
	"context"
	"encoding/json"
	"fmt"

	"sluice/engine"
)

// condition chooses between two paths, by an expression or by rows.
type condition struct{}

var (
	_ engine.Kind            = condition{}
	_ engine.ConfigValidator = condition{}
)

// Spec implements [engine.Kind].
func (condition) Spec() engine.Spec {
	return engine.Spec{
		Type: "condition", Title: "Condition", Group: "Flow", Icon: "git-fork", Class: engine.Pure,
		Summary: "Goes one way or the other.",
		Handles: []engine.Handle{{ID: "then", Label: "Then", Tone: "success"}, {ID: "else", Label: "Else"}},
		Config: json.RawMessage(`{
			"type": "object", "additionalProperties": false,
			"properties": {
				"expression": {"type": "string", "title": "Expression", "description": "Must be true or false. Use this, or rows below.", "x-mode": "expression", "x-ui": {"widget": "expression", "placeholder": "step.score.value > 0.8"}},
				"rows": {"type": "array", "title": "Rows", "x-ui": {"widget": "rows"}, "items": {
					"type": "object", "additionalProperties": false, "required": ["operator"],
					"properties": {
						"left": {"title": "Value"},
						"operator": {"type": "string", "title": "Operator", "x-mode": "literal", "default": "equals",
							"enum": ["equals", "not_equals", "contains", "not_contains", "greater_than", "less_than", "is_empty", "is_not_empty"]},
						"right": {"title": "Compared with"}
					}}},
				"match": {"type": "string", "title": "Rows must match", "enum": ["all", "any"], "default": "all", "x-mode": "literal", "x-labels": {"all": "All of them", "any": "Any of them"}}
			}
		}`),
		Output:  json.RawMessage(`{"type":"object","properties":{"result":{"type":"boolean"}}}`),
		Aliases: map[string]string{"condition": "expression", "conditions": "rows"},
	}
}

type conditionConfig struct {
	Expression string `json:"expression"`
	Rows       []Row  `json:"rows"`
	Match      string `json:"match"`
}

// ValidateConfig implements [engine.ConfigValidator].
func (condition) ValidateConfig(config json.RawMessage) []engine.Issue {
	var c conditionConfig
	if json.Unmarshal(config, &c) != nil {
		return nil // the schema says what is wrong
	}
	switch {
	case c.Expression == "" && len(c.Rows) == 0:
		return []engine.Issue{{Code: "missing_condition", Field: "expression", Message: "the condition has neither an expression nor rows", Fix: "Write an expression that is true or false, or add a row."}}
	case c.Expression != "" && len(c.Rows) > 0:
		return []engine.Issue{{Code: "two_conditions", Field: "rows", Message: "the condition has both an expression and rows", Fix: "Keep one of the two."}}
	}
	return nil
}

// Execute implements [engine.Kind].
func (condition) Execute(ctx context.Context, in engine.Input) (engine.Output, error) {
	var c conditionConfig
	if err := in.Decode(&c); err != nil {
		return engine.Output{}, err
	}
	result, err := c.holds(ctx, in)
	if err != nil {
		return engine.Output{}, err
	}
	handle := "else"
	if result {
		handle = "then"
	}
	return engine.Output{Value: map[string]any{"result": result}, Handle: handle}, nil
}

func (c conditionConfig) holds(ctx context.Context, in engine.Input) (bool, error) {
	if e := in.Expr("expression"); e != nil {
		ok, err := e.EvalBool(ctx, in.Env)
		if err != nil {
			return false, engine.Fatal(engine.CodeTemplate, fmt.Errorf("expression: %w", err))
		}
		return ok, nil
	}
	if len(c.Rows) == 0 {
		return false, engine.Fatalf(engine.CodeConfig, "the condition has neither an expression nor rows")
	}
	ok, err := MatchRows(c.Rows, c.Match == "any")
	if err != nil {
		return false, engine.Fatal(engine.CodeConfig, err)
	}
	return ok, nil
}
