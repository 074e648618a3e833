package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// DemoModel is the name of the model that is no AI.
const DemoModel = "demo"

// demoEcho is how much of a prompt the demo model repeats, in bytes.
const demoEcho = 4_000

// Demo answers without a network and always the same: it repeats the prompt, and
// makes up values that fit an output schema.
type Demo struct{}

var _ Provider = Demo{}

// NewDemo returns the demo model.
func NewDemo() Demo { return Demo{} }

// Complete implements [Provider].
func (Demo) Complete(ctx context.Context, req Request, onDelta func(string)) (Response, error) {
	resp := Response{Model: DemoModel, FinishReason: "stop"}
	if len(req.Schema) > 0 {
		v, err := demoJSON(req)
		if err != nil {
			return resp, err
		}
		resp.JSON, resp.Text = v, string(v)
	} else {
		resp.Text = "[Demo model, not an AI: no model key is set, so this text only repeats its prompt.]\n\n" + clip(req.Prompt)
	}
	if onDelta != nil {
		for word := range words(resp.Text) {
			if err := ctx.Err(); err != nil {
				return resp, fmt.Errorf("demo model: %w", err)
			}
			onDelta(word)
		}
	}
	resp.Usage = Usage{
		InputTokens: tokens(req.System) + tokens(req.Prompt), OutputTokens: tokens(resp.Text),
	}
	return resp, ctx.Err()
}

func demoJSON(req Request) (json.RawMessage, error) {
	var schema any
	if err := json.Unmarshal(req.Schema, &schema); err != nil {
		return nil, &Error{Code: CodeRefused, Message: "the output schema is not JSON: " + err.Error(), Err: err}
	}
	g := generator{root: schema, prompt: clip(req.Prompt)}
	v, err := json.Marshal(g.value(schema, "", 0))
	if err != nil {
		return nil, &Error{Code: CodeProtocol, Message: "the demo model could not write its answer: " + err.Error(), Err: err}
	}
	return v, nil
}

// clip keeps the beginning and the end of a long prompt.
func clip(s string) string {
	if len(s) <= demoEcho {
		return s
	}
	head, tail := s[:demoEcho/2], s[len(s)-demoEcho/2:]
	for !utf8.ValidString(head) && len(head) > demoEcho/2-utf8.UTFMax {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return head + "\n[…]\n" + tail
}

// words yields a text in pieces that end after white space.
func words(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for s != "" {
			i := strings.IndexAny(s, " \n\t")
			if i < 0 {
				i = len(s) - 1
			}
			if !yield(s[:i+1]) {
				return
			}
			s = s[i+1:]
		}
	}
}

// tokens is a rough count: four bytes each.
func tokens(s string) int64 { return int64(len(s)+3) / 4 }
