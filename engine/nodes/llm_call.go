package nodes

import (
	"context"
	"encoding/json"
	"strings"

	"sluice/engine"
	"sluice/engine/llm"
)

// llmCall asks a model.
type llmCall struct {
	models  llm.Provider
	schemas *Schemas
}

var (
	_ engine.Kind            = llmCall{}
	_ engine.ConfigValidator = llmCall{}
)

// Spec implements [engine.Kind].
func (llmCall) Spec() engine.Spec {
	return engine.Spec{
		Type: "llm_call", Title: "Model", Group: "AI", Icon: "sparkles", Class: engine.Effect,
		Summary:   "Asks a language model.",
		ResultKey: "text", Timeout: engine.DefaultModelTimeout,
		Config: json.RawMessage(`{
			"type": "object", "additionalProperties": false, "required": ["prompt"],
			"properties": {
				"prompt": {"type": "string", "title": "Prompt", "minLength": 1, "x-mode": "text", "x-ui": {"widget": "textarea", "rows": 8, "placeholder": "Write an outline for: {{workflow_input.topic}}"}},
				"system": {"type": "string", "title": "System prompt", "description": "Who the model is and how it answers.", "x-mode": "text", "x-ui": {"widget": "textarea", "rows": 3}},
				"model": {"type": "string", "title": "Model", "description": "Empty: the default model.", "x-ui": {"widget": "model"}},
				"output": {"type": "object", "title": "Structured output", "description": "JSON Schema of the answer. The parsed value is {{step.id.json}}.", "x-mode": "literal", "x-ui": {"widget": "schema", "advanced": true}},
				"temperature": {"type": "number", "title": "Temperature", "minimum": 0, "maximum": 2, "x-ui": {"advanced": true}},
				"max_tokens": {"type": "integer", "title": "Longest answer, in tokens", "minimum": 1, "x-ui": {"advanced": true}}
			}
		}`),
		Output: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"json":{},"model":{"type":"string"},"finish_reason":{"type":"string"},"usage":{"type":"object","properties":{"input_tokens":{"type":"integer"},"output_tokens":{"type":"integer"}}}}}`),
		Aliases: map[string]string{
			"systemPrompt": "system", "system_prompt": "system", "userPrompt": "prompt", "user_prompt": "prompt",
			"maxTokens": "max_tokens", "outputSchema": "output", "output_schema": "output",
		},
	}
}

type llmConfig struct {
	Model       string          `json:"model"`
	System      string          `json:"system"`
	Prompt      string          `json:"prompt"`
	Output      json.RawMessage `json:"output"`
	Temperature *float64        `json:"temperature"`
	MaxTokens   int             `json:"max_tokens"`
}

// ValidateConfig implements [engine.ConfigValidator].
func (k llmCall) ValidateConfig(config json.RawMessage) []engine.Issue {
	var c struct {
		Output json.RawMessage `json:"output"`
	}
	if json.Unmarshal(config, &c) != nil || len(orNil(c.Output)) == 0 {
		return nil // the schema says what is wrong
	}
	if err := k.schemas.CompileError(c.Output); err != nil {
		return []engine.Issue{{Code: "bad_schema", Field: "output", Message: err.Error(), Fix: "Correct the JSON Schema."}}
	}
	return nil
}

// Execute implements [engine.Kind].
func (k llmCall) Execute(ctx context.Context, in engine.Input) (engine.Output, error) {
	var c llmConfig
	if err := in.Decode(&c); err != nil {
		return engine.Output{}, err
	}
	if strings.TrimSpace(c.Prompt) == "" {
		return engine.Output{}, engine.Fatalf(engine.CodeConfig, "the prompt is empty")
	}
	resp, err := ask(ctx, in, k.models, k.schemas, llm.Request{
		Model: c.Model, System: c.System, Prompt: c.Prompt, Schema: orNil(c.Output),
		Temperature: c.Temperature, MaxTokens: c.MaxTokens,
	})
	out := engine.Output{Usage: usage(resp)}
	if err != nil {
		return out, err
	}
	value := map[string]any{
		"text": resp.Text, "model": resp.Model, "finish_reason": resp.FinishReason,
		"usage": map[string]any{"input_tokens": resp.Usage.InputTokens, "output_tokens": resp.Usage.OutputTokens},
	}
	if resp.JSON != nil {
		value["json"] = resp.JSON
	}
	out.Value = value
	return out, nil
}
