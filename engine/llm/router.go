package llm

import (
	"context"
	"fmt"
	"strings"
)

// DefaultModel is asked where neither the step nor the settings name a model.
const DefaultModel = "gpt-4o-mini"

// Options say which models there are.
type Options struct {
	// OpenAIKey and OpenAIBaseURL reach an OpenAI-compatible server. A base URL
	// without a key is a local server that needs none. Both empty: demo only.
	OpenAIKey     string
	OpenAIBaseURL string
	// Model is the default; empty: [DefaultModel], or the demo model where there is
	// no server.
	Model string
}

// Router sends a request to the provider that its model names: "demo", "openai/x",
// or a bare name, which the OpenAI-compatible server gets.
type Router struct {
	demo   Provider
	openai Provider // nil: not set up
	model  string
}

var _ Provider = (*Router)(nil)

// NewRouter returns a router for the options.
func NewRouter(o Options) (*Router, error) {
	r := &Router{demo: NewDemo(), model: o.Model}
	if o.OpenAIKey != "" || o.OpenAIBaseURL != "" {
		p, err := NewOpenAI(OpenAIConfig{Key: o.OpenAIKey, BaseURL: o.OpenAIBaseURL})
		if err != nil {
			return nil, err
		}
		r.openai = p
	}
	if r.model == "" {
		r.model = DemoModel
		if r.openai != nil {
			r.model = DefaultModel
		}
	}
	return r, nil
}

// Demo reports whether only the demo model answers.
func (r *Router) Demo() bool { return r.openai == nil }

// Model is the default model.
func (r *Router) Model() string { return r.model }

// Complete implements [Provider].
func (r *Router) Complete(ctx context.Context, req Request, onDelta func(string)) (Response, error) {
	if req.Model = strings.TrimSpace(req.Model); req.Model == "" {
		req.Model = r.model
	}
	switch provider, name, named := strings.Cut(req.Model, "/"); {
	case r.openai == nil, req.Model == DemoModel:
		// Without a key everything is answered by the demo model, whatever the
		// workflow names, so that it can be tried as it is.
		return r.demo.Complete(ctx, req, onDelta)
	case named && provider == "openai":
		if name == "" {
			return Response{}, &Error{Code: CodeUnknown, Message: fmt.Sprintf("%q names no model", req.Model)}
		}
		req.Model = name
	}
	return r.openai.Complete(ctx, req, onDelta)
}
