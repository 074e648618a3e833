package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/engine"
	"sluice/models"
	"sluice/web/app"
	"sluice/web/auth"
	"sluice/web/live"
)

// Run is one execution.
type Run struct {
	ID           string          `json:"id"`
	WorkflowID   string          `json:"workflow_id"`
	WorkflowName string          `json:"workflow_name"`
	Version      int             `json:"version"`
	VersionID    string          `json:"version_id"`
	Status       string          `json:"status"`
	Input        json.RawMessage `json:"input,omitempty"`
	Variables    json.RawMessage `json:"variables,omitempty"`
	Output       json.RawMessage `json:"output,omitempty"`
	Error        json.RawMessage `json:"error,omitempty"`
	Usage        json.RawMessage `json:"usage,omitempty"`
	StartedBy    json.RawMessage `json:"started_by,omitempty"`
	ParentRunID  string          `json:"parent_run_id,omitempty"`
	CreatedAt    time.Time       `json:"created_at"`
	StartedAt    *time.Time      `json:"started_at,omitempty"`
	EndedAt      *time.Time      `json:"ended_at,omitempty"`
	DurationMS   float64         `json:"duration_ms"`
}

func rawOf(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

// RunOf is a run as the API shows it.
func RunOf(r models.RunItem) Run {
	out := Run{
		ID: r.ID, WorkflowID: r.WorkflowID, WorkflowName: r.WorkflowName, Version: r.Version, VersionID: r.VersionID, Status: r.Status,
		Input: rawOf(r.Input), Variables: rawOf(r.Variables), Output: rawOf(r.Output), Error: rawOf(r.Error), Usage: rawOf(r.Usage),
		StartedBy: rawOf(r.StartedBy), ParentRunID: r.ParentRunID, CreatedAt: r.CreatedAt.Time, StartedAt: timeOf(r.StartedAt), EndedAt: timeOf(r.EndedAt),
	}
	if out.StartedAt != nil && out.EndedAt != nil {
		out.DurationMS = float64(out.EndedAt.Sub(*out.StartedAt).Microseconds()) / 1000
	}
	return out
}

// View reads a run for the websocket.
func View(db *models.DB) live.RunView {
	return func(ctx context.Context, accountID, runID string) (any, error) {
		r, err := db.Run(ctx, accountID, runID)
		if err != nil {
			return nil, err
		}
		return RunOf(r), nil
	}
}

// Step is a line of the execution log.
type Step struct {
	NodeID     string          `json:"node_id"`
	NodeType   string          `json:"node_type"`
	Label      string          `json:"label"`
	Address    string          `json:"address"`
	Round      int             `json:"round"`
	Status     string          `json:"status"`
	Result     json.RawMessage `json:"result,omitempty"`
	Error      json.RawMessage `json:"error,omitempty"`
	DurationMS float64         `json:"duration_ms"`
	Attempts   int             `json:"attempts"`
	Handle     string          `json:"handle,omitempty"`
	Warning    string          `json:"warning,omitempty"`
	Superseded bool            `json:"superseded,omitempty"`
	StartedAt  *time.Time      `json:"started_at,omitempty"`
	EndedAt    *time.Time      `json:"ended_at,omitempty"`
}

func stepOf(r models.StepRecord, labels map[string]string) Step {
	s := Step{
		NodeID: r.NodeID, NodeType: r.Type, Label: labels[r.NodeID], Address: r.Address, Round: r.Round, Status: r.Status, Result: rawOf(r.Output),
		Error: rawOf(r.Error), Attempts: r.Attempt, Handle: r.Handle, Warning: r.Warning, Superseded: r.Superseded,
		StartedAt: timeOf(r.StartedAt), EndedAt: timeOf(r.EndedAt),
	}
	if s.StartedAt != nil && s.EndedAt != nil {
		s.DurationMS = float64(s.EndedAt.Sub(*s.StartedAt).Microseconds()) / 1000
	}
	return s
}

func (h *handlers) runs(api huma.API) {
	huma.Register(api, op("POST", "/workflows/{id}/runs", "start-run", "Start a run", 202), h.startRun)
	huma.Register(api, op("GET", "/runs", "list-runs", "List runs", 200), h.listRuns)
	huma.Register(api, op("GET", "/runs/{id}", "get-run", "Get a run", 200), func(ctx context.Context, in *IDPath) (*body[Run], error) {
		return h.run(ctx, in.ID)
	})
	huma.Register(api, op("GET", "/runs/{id}/definition", "get-run-definition", "The definition that the run is made of", 200), h.runDefinition)
	huma.Register(api, op("GET", "/runs/{id}/steps", "list-steps", "The execution log", 200), h.listSteps)
	huma.Register(api, op("GET", "/runs/{id}/spans", "list-spans", "The span tree, or what changed in it", 200), h.listSpans)
	huma.Register(api, op("POST", "/runs/{id}/cancel", "cancel-run", "Cancel a run", 200), h.cancelRun)
	huma.Register(api, op("POST", "/runs/{id}/retry", "retry-run", "Run a failed run again from its failed steps", 200), h.retryRun)
	huma.Register(api, op("POST", "/runs/{id}/fork", "fork-run", "Start a new run from a step of this one", 201), h.forkRun)
}

func (h *handlers) run(ctx context.Context, id string) (*body[Run], error) {
	p, _ := auth.From(ctx)
	r, err := h.App.DB.Run(ctx, p.AccountID, id)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	return answer(RunOf(r)), nil
}

// started is the answer to a start.
type started struct {
	Status   int
	Location string `header:"Location"`
	Body     Run
}

// maxWait bounds ?wait.
const maxWait = 60 * time.Second

func (h *handlers) startRun(ctx context.Context, in *struct {
	IDPath
	Key  string `header:"Idempotency-Key" maxLength:"200"`
	Wait string `query:"wait" doc:"How long to wait for the run's end, such as 30s; at most 60s"`
	Body struct {
		Input     json.RawMessage `json:"input,omitempty"`
		Variables json.RawMessage `json:"variables,omitempty"`
		Draft     bool            `json:"draft,omitempty" doc:"Run the draft even if a version is published"`
	}
},
) (*started, error) {
	p, _ := auth.From(ctx)
	var wait time.Duration
	if in.Wait != "" {
		d, err := time.ParseDuration(in.Wait)
		if err != nil || d < 0 || d > maxWait {
			return nil, newProblem(http.StatusUnprocessableEntity, "wait must be a duration of at most 60s, such as 30s")
		}
		wait = d
	}
	run, created, err := h.App.Start(ctx, p, app.StartRequest{
		WorkflowID: in.ID, Draft: in.Body.Draft, Input: in.Body.Input, Variables: in.Body.Variables, IdempotencyKey: in.Key,
	})
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	status := http.StatusAccepted
	if !created {
		status = http.StatusOK
	}
	if wait > 0 {
		done, err := h.App.AwaitFor(ctx, p, run.ID, wait)
		if err != nil {
			return nil, h.fail(ctx, err)
		}
		if done.Status.Terminal() || done.Status == engine.RunPendingApproval {
			status = http.StatusCreated
		}
	}
	item, err := h.App.DB.Run(ctx, p.AccountID, run.ID)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	return &started{Status: status, Location: "/api/v1/runs/" + run.ID, Body: RunOf(item)}, nil
}

func (h *handlers) listRuns(ctx context.Context, in *struct {
	Page
	Status   []string `query:"status" enum:"queued,running,pending_approval,waiting,succeeded,failed,rejected,cancelled" doc:"one status, or several with commas between"`
	Workflow string   `query:"workflow"`
	Search   string   `query:"q"`
},
) (*body[list[Run]], error) {
	p, _ := auth.From(ctx)
	q := models.RunQuery{AccountID: p.AccountID, WorkflowID: in.Workflow, Search: in.Search, Cursor: in.Cursor, Limit: in.Limit, Statuses: in.Status}
	rows, next, err := h.App.DB.Runs(ctx, q)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	out := list[Run]{Items: make([]Run, len(rows)), NextCursor: next}
	for i, r := range rows {
		out.Items[i] = RunOf(r)
	}
	return answer(out), nil
}

func (h *handlers) definition(ctx context.Context, id string) (string, error) {
	p, _ := auth.From(ctx)
	r, err := h.App.DB.Run(ctx, p.AccountID, id)
	if err != nil {
		return "", err
	}
	return h.App.DB.DefinitionBody(ctx, r.DefinitionHash)
}

func (h *handlers) runDefinition(ctx context.Context, in *IDPath) (*body[json.RawMessage], error) {
	text, err := h.definition(ctx, in.ID)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	return answer(json.RawMessage(text)), nil
}

func (h *handlers) listSteps(ctx context.Context, in *struct {
	IDPath
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"1000"`
},
) (*body[list[Step]], error) {
	p, _ := auth.From(ctx)
	text, err := h.definition(ctx, in.ID)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	var def engine.Definition
	if err := json.Unmarshal([]byte(text), &def); err != nil {
		return nil, h.fail(ctx, err)
	}
	labels := make(map[string]string, len(def.Nodes))
	for i := range def.Nodes {
		labels[def.Nodes[i].ID] = def.Nodes[i].Label
	}
	rows, next, err := h.App.DB.Steps(ctx, p.AccountID, in.ID, in.Cursor, in.Limit)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	out := list[Step]{Items: make([]Step, len(rows)), NextCursor: next}
	for i, r := range rows {
		out.Items[i] = stepOf(r, labels)
	}
	return answer(out), nil
}

// SpanList is a page of a run's spans and the last sequence number among them.
type SpanList struct {
	Spans []engine.Span `json:"spans"`
	Seq   int64         `json:"seq"`
	// NextAfter is what to ask the next page with, where there is one already.
	NextAfter int64 `json:"next_after,omitempty" doc:"after of the next page; absent on the last"`
}

func (h *handlers) listSpans(ctx context.Context, in *struct {
	IDPath
	After int64 `query:"after" minimum:"0" doc:"the sequence number that is known"`
	Limit int   `query:"limit" minimum:"1" maximum:"1000" default:"1000"`
},
) (*body[SpanList], error) {
	p, _ := auth.From(ctx)
	if _, err := h.App.DB.Run(ctx, p.AccountID, in.ID); err != nil {
		return nil, h.fail(ctx, err)
	}
	items, more, err := live.Page(ctx, h.App.DB, h.Hub, p.AccountID, in.ID, in.After, in.Limit)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	out := SpanList{Spans: make([]engine.Span, len(items)), Seq: in.After}
	for i, it := range items {
		if err := json.Unmarshal(it.JSON(), &out.Spans[i]); err != nil {
			return nil, h.fail(ctx, fmt.Errorf("read span %s of %s: %w", it.Span.ID, in.ID, err))
		}
		out.Seq = it.Span.Seq
	}
	if more {
		out.NextAfter = out.Seq
	}
	return answer(out), nil
}

func (h *handlers) cancelRun(ctx context.Context, in *struct {
	IDPath
	Body *struct {
		Reason string `json:"reason,omitempty" maxLength:"1000"`
	} `required:"false"`
},
) (*body[Run], error) {
	p, _ := auth.From(ctx)
	reason := ""
	if in.Body != nil {
		reason = in.Body.Reason
	}
	if _, err := h.App.Engine.Cancel(ctx, p.AccountID, in.ID, p.Actor(), reason); err != nil {
		return nil, h.fail(ctx, err)
	}
	return h.run(ctx, in.ID)
}

func (h *handlers) retryRun(ctx context.Context, in *IDPath) (*body[Run], error) {
	p, _ := auth.From(ctx)
	if _, err := h.App.Engine.Retry(ctx, p.AccountID, in.ID, p.Actor()); err != nil {
		return nil, h.fail(ctx, err)
	}
	return h.run(ctx, in.ID)
}

func (h *handlers) forkRun(ctx context.Context, in *struct {
	IDPath
	Body struct {
		From  string          `json:"from,omitempty" doc:"address of the first step that runs again; empty: all"`
		Input json.RawMessage `json:"input,omitempty"`
	}
},
) (*body[Run], error) {
	p, _ := auth.From(ctx)
	run, err := h.App.Fork(ctx, p, in.ID, in.Body.From, in.Body.Input)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	return h.run(ctx, run.ID)
}
