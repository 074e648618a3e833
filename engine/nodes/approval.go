package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sluice/engine"
	"sluice/engine/expr"
)

// approval asks a person and waits for the answer outside of the process.
type approval struct{}

var (
	_ engine.Kind            = approval{}
	_ engine.ConfigValidator = approval{}
	_ engine.HandleLister    = approval{}
)

// timeoutFails is the value of on_timeout that fails the step.
const timeoutFails = "fail"

// Spec implements [engine.Kind].
func (approval) Spec() engine.Spec {
	return engine.Spec{
		Type: "approval", Title: "Approval", Group: "People", Icon: "user-check", Class: engine.Parking,
		Summary:     "Asks a person to approve, edit or reject before going on.",
		HandlesFrom: "outcomes",
		Config: json.RawMessage(`{
			"type": "object", "additionalProperties": false,
			"properties": {
				"title": {"type": "string", "title": "Title", "description": "One line in the inbox.", "x-mode": "text", "x-ui": {"placeholder": "Publish {{workflow_input.title}}?"}},
				"body": {"type": "string", "title": "Text", "description": "What the approver reads, as Markdown.", "x-mode": "text", "x-ui": {"widget": "markdown", "rows": 6}},
				"department": {"type": "string", "title": "Department", "description": "Who may decide. Nobody named: everyone who may approve.", "x-ui": {"widget": "department"}},
				"assignees": {"type": "array", "title": "Assignees", "description": "E-mail addresses of those who may decide.", "items": {"type": "string"}, "x-ui": {"widget": "users"}},
				"content": {"title": "Under review", "description": "The value to review. With a schema below, the approver may edit it.", "x-ui": {"widget": "json", "rows": 3, "placeholder": "{{step.draft}}"}},
				"schema": {"type": "object", "title": "Form", "description": "JSON Schema of the value that the approver hands back.", "x-mode": "literal", "x-ui": {"widget": "schema", "advanced": true}},
				"outcomes": {"type": "array", "title": "Answers", "minItems": 1, "maxItems": 8, "x-mode": "literal", "x-ui": {"widget": "list", "advanced": true},
					"default": [{"id": "approve", "label": "Approve", "tone": "success"}, {"id": "reject", "label": "Reject", "tone": "danger", "refusal": true}],
					"items": {"type": "object", "additionalProperties": false, "required": ["id"], "properties": {
						"label": {"type": "string", "title": "Label"},
						"id": {"type": "string", "title": "Id", "minLength": 1},
						"tone": {"type": "string", "title": "Colour", "enum": ["", "success", "danger", "warning"], "x-labels": {"": "Plain", "success": "Green", "danger": "Red", "warning": "Yellow"}},
						"refusal": {"type": "boolean", "title": "Says no", "description": "With no step after it, choosing it rejects the run."},
						"require_comment": {"type": "boolean", "title": "Needs a comment"}
					}}},
				"timeout": {"type": ["string", "number"], "title": "Wait at most", "description": "For example 2d. Empty: as long as it takes.", "x-ui": {"widget": "duration", "placeholder": "2d", "advanced": true}},
				"on_timeout": {"type": "string", "title": "When nobody answers", "description": "The id of an answer, or fail.", "default": "fail", "x-mode": "literal", "x-ui": {"advanced": true}}
			}
		}`),
		Output: json.RawMessage(`{"type":"object","properties":{"outcome":{"type":"string"},"comment":{"type":"string"},"decided_by":{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"}}},"decided_at":{"type":"string"},"data":{}}}`),
		Aliases: map[string]string{
			"message": "body", "onTimeout": "on_timeout", "approvers": "assignees",
		},
	}
}

type approvalConfig struct {
	Title      string           `json:"title"`
	Body       string           `json:"body"`
	Department string           `json:"department"`
	Assignees  []string         `json:"assignees"`
	Content    json.RawMessage  `json:"content"`
	Schema     json.RawMessage  `json:"schema"`
	Outcomes   []engine.Outcome `json:"outcomes"`
	Timeout    json.RawMessage  `json:"timeout"`
	OnTimeout  string           `json:"on_timeout"`
}

// outcomes are the answers configured, or approve and reject.
func (c approvalConfig) outcomes() []engine.Outcome {
	if len(c.Outcomes) == 0 {
		return []engine.Outcome{
			{ID: "approve", Label: "Approve", Tone: "success"},
			{ID: "reject", Label: "Reject", Tone: "danger", Refusal: true},
		}
	}
	out := make([]engine.Outcome, len(c.Outcomes))
	for i, o := range c.Outcomes {
		if o.Label == "" {
			o.Label = o.ID
		}
		out[i] = o
	}
	return out
}

func (c approvalConfig) outcome(id string) (engine.Outcome, bool) {
	for _, o := range c.outcomes() {
		if o.ID == id {
			return o, true
		}
	}
	return engine.Outcome{}, false
}

// HandlesOf implements [engine.HandleLister].
func (approval) HandlesOf(config json.RawMessage) []engine.Handle {
	var c struct {
		Outcomes []engine.Outcome `json:"outcomes"`
	}
	if json.Unmarshal(config, &c) != nil {
		c.Outcomes = nil // the schema says what is wrong
	}
	var out []engine.Handle
	for _, o := range (approvalConfig{Outcomes: c.Outcomes}).outcomes() {
		out = append(out, engine.Handle{ID: o.ID, Label: o.Label, Tone: o.Tone})
	}
	return out
}

// ValidateConfig implements [engine.ConfigValidator].
func (approval) ValidateConfig(config json.RawMessage) []engine.Issue {
	var c struct {
		Outcomes  []engine.Outcome `json:"outcomes"`
		Timeout   json.RawMessage  `json:"timeout"`
		OnTimeout string           `json:"on_timeout"`
	}
	if json.Unmarshal(config, &c) != nil {
		return nil // the schema says what is wrong
	}
	ids := make([]string, len(c.Outcomes))
	for i, o := range c.Outcomes {
		ids[i] = o.ID
	}
	out := handleIssues("outcomes", ids, timeoutFails)
	if text := scalarText(c.Timeout); text != "" && !templated(text) {
		if _, err := ParseDuration(text); err != nil {
			out = append(out, engine.Issue{Code: "bad_duration", Field: "timeout", Message: err.Error()})
		}
	}
	if c.OnTimeout != "" && c.OnTimeout != timeoutFails {
		if _, ok := (approvalConfig{Outcomes: c.Outcomes}).outcome(c.OnTimeout); !ok {
			out = append(out, engine.Issue{
				Code: "unknown_outcome", Field: "on_timeout",
				Message: fmt.Sprintf("%q is not one of the answers", c.OnTimeout), Fix: "Name the id of an answer, or fail.",
			})
		}
	}
	return out
}

// Execute implements [engine.Kind].
func (approval) Execute(_ context.Context, in engine.Input) (engine.Output, error) {
	var c approvalConfig
	if err := in.Decode(&c); err != nil {
		return engine.Output{}, err
	}
	title := strings.TrimSpace(c.Title)
	if title == "" {
		title = "Approval needed"
	}
	park := &engine.Park{
		Kind: engine.ParkApproval, Outcomes: c.outcomes(),
		Approval: &engine.ApprovalRequest{
			Title: title, Body: c.Body, Department: c.Department, Assignees: assignees(c.Assignees),
			Content: orNil(c.Content), Schema: orNil(c.Schema),
		},
	}
	d, err := durationValue(c.Timeout)
	if err != nil {
		return engine.Output{}, engine.Fatal(engine.CodeConfig, fmt.Errorf("timeout: %w", err))
	}
	if d > 0 {
		park.WakeAt = in.Now().UTC().Add(d)
		if park.OnWake, err = c.onTimeout(d, park.WakeAt); err != nil {
			return engine.Output{}, err
		}
	}
	return engine.Output{Park: park}, nil
}

// onTimeout is how the approval ends when nobody answers.
func (c approvalConfig) onTimeout(d time.Duration, at time.Time) (*engine.Resolution, error) {
	if c.OnTimeout == "" || c.OnTimeout == timeoutFails {
		return &engine.Resolution{Error: &engine.StepError{Code: engine.CodeTimeout, Message: fmt.Sprintf("nobody answered within %s", d)}}, nil
	}
	o, ok := c.outcome(c.OnTimeout)
	if !ok {
		return nil, engine.Fatalf(engine.CodeConfig, "on_timeout: %q is not one of the answers", c.OnTimeout)
	}
	out := expr.NewObject()
	out.Set("outcome", o.ID)
	out.Set("comment", "")
	out.Set("decided_by", nil)
	out.Set("decided_at", at.Format(time.RFC3339Nano))
	data, err := decodeValue(c.Content)
	if err != nil {
		return nil, engine.Fatal(engine.CodeConfig, fmt.Errorf("content: %w", err))
	}
	out.Set("data", data)
	raw, err := expr.Encode(out)
	if err != nil {
		return nil, fmt.Errorf("encode the outcome on timeout: %w", err)
	}
	return &engine.Resolution{Outcome: o.ID, Handle: o.ID, Output: raw}, nil
}

func assignees(given []string) []string {
	var out []string
	for _, a := range given {
		if a = strings.TrimSpace(a); a != "" {
			out = append(out, a)
		}
	}
	return out
}

// orNil drops a JSON null.
func orNil(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// templated tells that a text's value is only known at run time.
func templated(s string) bool { return strings.Contains(s, "{{") }
