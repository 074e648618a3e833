package nodes

import (
	"context"
	"errors"
	"fmt"

	"sluice/engine"
	"sluice/engine/llm"
)

// CodeBadOutput is the code of a model answer that does not fit its schema.
const CodeBadOutput = "bad_output"

// ask calls a model for a step: it streams, traces, checks structured output and
// gives errors the meaning that the retry policy needs. The response is returned
// with an error too, because it has cost something.
func ask(ctx context.Context, in engine.Input, models llm.Provider, schemas *Schemas, req llm.Request) (llm.Response, error) {
	req.IdempotencyKey = in.IdempotencyKey
	in.Trace("model", req.Model)
	in.Trace("system", req.System)
	in.Trace("prompt", req.Prompt)
	resp, err := models.Complete(ctx, req, in.Emit)
	if resp.Text != "" {
		in.Trace("response", resp.Text)
	}
	if resp.Model != "" {
		in.Trace("model", resp.Model)
	}
	if err != nil {
		return resp, modelError(err)
	}
	if len(req.Schema) == 0 {
		return resp, nil
	}
	problems, err := schemas.Check(req.Schema, resp.JSON, false)
	if err != nil {
		return resp, engine.Fatal(engine.CodeConfig, fmt.Errorf("output schema: %w", err))
	}
	if len(problems) > 0 {
		p := problems[0]
		if p.Path == "" {
			p.Path = "the value"
		}
		return resp, engine.Retryable(CodeBadOutput, fmt.Errorf("the model's answer does not fit the output schema: %s %s", p.Path, p.Message))
	}
	return resp, nil
}

// modelError translates a provider's error. Errors of other types are the
// network's or the context's: the policy judges them.
func modelError(err error) error {
	var e *llm.Error
	switch {
	case !errors.As(err, &e):
		return fmt.Errorf("model call: %w", err)
	case !e.Retryable:
		return engine.Fatal(e.Code, err)
	case e.RetryAfter > 0:
		return engine.RetryAfter(e.Code, e.RetryAfter, err)
	default:
		return engine.Retryable(e.Code, err)
	}
}

func usage(r llm.Response) engine.Usage {
	return engine.Usage{
		InputTokens: r.Usage.InputTokens, OutputTokens: r.Usage.OutputTokens,
		CachedTokens: r.Usage.CachedTokens, ModelCalls: 1,
	}
}
