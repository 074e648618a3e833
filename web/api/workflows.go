package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/engine"
	"sluice/models"
	"sluice/web/app"
	"sluice/web/auth"
)

// Workflow is a workflow with its draft.
type Workflow struct {
	ID               string          `json:"id"`
	Name             string          `json:"name"`
	Description      string          `json:"description"`
	Revision         int64           `json:"revision"`
	Definition       json.RawMessage `json:"definition"`
	Issues           engine.Issues   `json:"issues"`
	PublishedVersion int             `json:"published_version"`
	PublishedAt      *time.Time      `json:"published_at,omitempty"`
	UpdatedBy        string          `json:"updated_by"`
	CreatedAt        time.Time       `json:"created_at"`
	UpdatedAt        time.Time       `json:"updated_at"`
}

// WorkflowSummary is a line of the workflow list.
type WorkflowSummary struct {
	ID               string    `json:"id"`
	Name             string    `json:"name"`
	Description      string    `json:"description"`
	PublishedVersion int       `json:"published_version"`
	UpdatedBy        string    `json:"updated_by"`
	UpdatedAt        time.Time `json:"updated_at"`
	LastRun          *LastRun  `json:"last_run,omitempty"`
}

// LastRun is a workflow's newest run.
type LastRun struct {
	ID        string    `json:"id"`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"created_at"`
}

// Version is an immutable version.
type Version struct {
	ID          string          `json:"id"`
	WorkflowID  string          `json:"workflow_id"`
	Version     int             `json:"version"`
	Hash        string          `json:"hash"`
	Notes       string          `json:"notes"`
	PublishedBy string          `json:"published_by"`
	PublishedAt time.Time       `json:"published_at"`
	Definition  json.RawMessage `json:"definition,omitempty"`
}

func timeOf(t models.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t.Time
}

func workflowOf(c app.Checked) Workflow {
	issues := c.Issues
	if issues == nil {
		issues = engine.Issues{}
	}
	return Workflow{
		ID: c.ID, Name: c.Name, Description: c.Description, Revision: c.DraftRevision, Definition: json.RawMessage(c.Draft), Issues: issues,
		PublishedVersion: c.PublishedVersion, PublishedAt: timeOf(c.PublishedAt), UpdatedBy: c.UpdatedBy, CreatedAt: c.CreatedAt.Time, UpdatedAt: c.UpdatedAt.Time,
	}
}

func versionOf(v models.WorkflowVersion) Version {
	return Version{ID: v.ID, WorkflowID: v.WorkflowID, Version: v.Version, Hash: v.Hash, Notes: v.Notes, PublishedBy: v.CreatedBy, PublishedAt: v.CreatedAt.Time}
}

func summaryOf(i models.WorkflowItem) WorkflowSummary {
	s := WorkflowSummary{
		ID: i.ID, Name: i.Name, Description: i.Description, PublishedVersion: i.PublishedVersion, UpdatedBy: i.UpdatedBy, UpdatedAt: i.UpdatedAt.Time,
	}
	if i.LastRunID != "" {
		s.LastRun = &LastRun{ID: i.LastRunID, Status: i.LastRunStatus, CreatedAt: i.LastRunAt.Time}
	}
	return s
}

// document takes a wrapped definition {"definition": …, "name": …} or a bare one.
func document(raw []byte) (data []byte, name string) {
	var wrapped struct {
		Definition json.RawMessage `json:"definition"`
		Name       string          `json:"name"`
		Nodes      json.RawMessage `json:"nodes"`
		Steps      json.RawMessage `json:"steps"`
	}
	if json.Unmarshal(raw, &wrapped) == nil && len(wrapped.Definition) > 0 && wrapped.Nodes == nil && wrapped.Steps == nil {
		return wrapped.Definition, wrapped.Name
	}
	return raw, ""
}

// IDPath is the id in the path. Exported, like Page, because huma reads the fields of
// exported embedded structs only.
type IDPath struct {
	ID string `path:"id"`
}

func (h *handlers) workflows(api huma.API) {
	huma.Register(api, op("GET", "/kinds", "list-kinds", "The node types", 200), func(context.Context, *struct{}) (*body[map[string]any], error) {
		return answer(map[string]any{"kinds": h.App.Registry.Specs()}), nil
	})
	huma.Register(api, op("GET", "/workflows", "list-workflows", "List workflows", 200), h.listWorkflows)
	huma.Register(api, raw(op("POST", "/workflows", "create-workflow", "Store a workflow given in any of its forms", 201)), h.createWorkflow)
	huma.Register(api, raw(op("POST", "/workflows/validate", "validate-workflow", "Validate a workflow without storing it", 200)), h.validateWorkflow)
	huma.Register(api, op("GET", "/workflows/{id}", "get-workflow", "Get a workflow", 200), func(ctx context.Context, in *IDPath) (*body[Workflow], error) {
		p, _ := auth.From(ctx)
		c, err := h.App.Get(ctx, p, in.ID)
		if err != nil {
			return nil, h.fail(ctx, err)
		}
		return answer(workflowOf(c)), nil
	})
	huma.Register(api, op("PUT", "/workflows/{id}", "save-workflow", "Save a draft that is still at the given revision", 200), h.saveWorkflow)
	huma.Register(api, op("DELETE", "/workflows/{id}", "delete-workflow", "Delete a workflow; its runs stay", 204), func(ctx context.Context, in *IDPath) (*struct{}, error) {
		p, _ := auth.From(ctx)
		if err := h.App.Delete(ctx, p, in.ID); err != nil {
			return nil, h.fail(ctx, err)
		}
		return nil, nil
	})
	huma.Register(api, op("POST", "/workflows/{id}/publish", "publish-workflow", "Make a version of the draft", 201), h.publishWorkflow)
	huma.Register(api, op("GET", "/workflows/{id}/versions", "list-versions", "List published versions", 200), h.listVersions)
	huma.Register(api, op("GET", "/workflows/{id}/versions/{version}", "get-version", "Get a published version", 200), h.getVersion)
}

func (h *handlers) listWorkflows(ctx context.Context, in *struct {
	Page
	Search string `query:"q" doc:"words of name or description"`
},
) (*body[list[WorkflowSummary]], error) {
	p, _ := auth.From(ctx)
	rows, next, err := h.App.DB.Workflows(ctx, models.WorkflowQuery{AccountID: p.AccountID, Search: in.Search, Cursor: in.Cursor, Limit: in.Limit})
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	out := list[WorkflowSummary]{Items: make([]WorkflowSummary, len(rows)), NextCursor: next}
	for i, r := range rows {
		out.Items[i] = summaryOf(r)
	}
	return answer(out), nil
}

// rawInput is a body that is read as it is.
type rawInput struct {
	RawBody []byte `contentType:"application/json"`
}

func (h *handlers) createWorkflow(ctx context.Context, in *rawInput) (*body[Workflow], error) {
	p, _ := auth.From(ctx)
	data, name := document(in.RawBody)
	c, err := h.App.Create(ctx, p, data, name)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	return answer(workflowOf(c)), nil
}

// Validation is what validating a document gives.
type Validation struct {
	Valid      bool            `json:"valid"`
	Issues     engine.Issues   `json:"issues"`
	Definition json.RawMessage `json:"definition"`
}

func (h *handlers) validateWorkflow(ctx context.Context, in *rawInput) (*body[Validation], error) {
	data, _ := document(in.RawBody)
	def, issues, err := h.App.Read(data)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	canonical, _, err := def.Canonical()
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	if issues == nil {
		issues = engine.Issues{}
	}
	return answer(Validation{Valid: !issues.HasErrors(), Issues: issues, Definition: canonical}), nil
}

func (h *handlers) saveWorkflow(ctx context.Context, in *struct {
	IDPath
	Body struct {
		Revision   int64           `json:"revision" doc:"the revision that the change is made to"`
		Definition json.RawMessage `json:"definition"`
	}
},
) (*body[Workflow], error) {
	p, _ := auth.From(ctx)
	c, err := h.App.Save(ctx, p, in.ID, in.Body.Revision, in.Body.Definition)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	return answer(workflowOf(c)), nil
}

func (h *handlers) publishWorkflow(ctx context.Context, in *struct {
	IDPath
	Body struct {
		Revision int64  `json:"revision"`
		Notes    string `json:"notes,omitempty"`
	}
},
) (*body[Version], error) {
	p, _ := auth.From(ctx)
	v, err := h.App.Publish(ctx, p, in.ID, in.Body.Revision, in.Body.Notes)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	return answer(versionOf(v)), nil
}

func (h *handlers) listVersions(ctx context.Context, in *IDPath) (*body[list[Version]], error) {
	p, _ := auth.From(ctx)
	if _, err := h.App.DB.Workflow(ctx, p.AccountID, in.ID); err != nil {
		return nil, h.fail(ctx, err)
	}
	rows, err := h.App.DB.Versions(ctx, p.AccountID, in.ID)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	out := list[Version]{Items: make([]Version, len(rows))}
	for i, v := range rows {
		out.Items[i] = versionOf(v)
	}
	return answer(out), nil
}

func (h *handlers) getVersion(ctx context.Context, in *struct {
	IDPath
	Version int `path:"version" minimum:"1"`
},
) (*body[Version], error) {
	p, _ := auth.From(ctx)
	v, err := h.App.DB.Version(ctx, p.AccountID, in.ID, in.Version)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	text, err := h.App.DB.DefinitionBody(ctx, v.Hash)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	out := versionOf(v)
	out.Definition = json.RawMessage(text)
	return answer(out), nil
}
