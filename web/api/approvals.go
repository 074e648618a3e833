package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/models"
	"sluice/web/app"
	"sluice/web/auth"
)

// Approval is a question to a person.
type Approval struct {
	ID           string          `json:"id"`
	RunID        string          `json:"run_id"`
	WorkflowID   string          `json:"workflow_id"`
	WorkflowName string          `json:"workflow_name"`
	NodeID       string          `json:"node_id"`
	Address      string          `json:"address"`
	Kind         string          `json:"kind"`
	Title        string          `json:"title"`
	Body         string          `json:"body"`
	Department   string          `json:"department,omitempty"`
	Assignees    json.RawMessage `json:"assignees,omitempty"`
	Content      json.RawMessage `json:"content,omitempty"`
	Schema       json.RawMessage `json:"schema,omitempty"`
	Outcomes     json.RawMessage `json:"outcomes"`
	Status       string          `json:"status"`
	OpenedAt     time.Time       `json:"opened_at"`
	DueAt        *time.Time      `json:"due_at,omitempty"`
	Decision     *Decision       `json:"decision,omitempty"`
	ClosedReason string          `json:"closed_reason,omitempty"`
}

// Decision is the answer that was given.
type Decision struct {
	Outcome string          `json:"outcome"`
	Comment string          `json:"comment"`
	Data    json.RawMessage `json:"data,omitempty"`
	By      json.RawMessage `json:"by"`
	At      time.Time       `json:"at"`
}

func approvalOf(a models.ApprovalItem) Approval {
	out := Approval{
		ID: a.ID, RunID: a.RunID, WorkflowID: a.WorkflowID, WorkflowName: a.WorkflowName, NodeID: a.NodeID, Address: a.Address, Kind: a.Kind,
		Title: a.Title, Body: a.Body, Department: a.Department, Assignees: rawOf(a.Assignees), Content: rawOf(a.Content), Schema: rawOf(a.Schema),
		Outcomes: rawOf(a.Outcomes), Status: a.Status, OpenedAt: a.OpenedAt.Time, DueAt: timeOf(a.DueAt), ClosedReason: a.Reason,
	}
	if out.Outcomes == nil {
		out.Outcomes = json.RawMessage("[]")
	}
	if d := a.Decision; d != nil {
		out.Decision = &Decision{Outcome: d.Outcome, Comment: d.Comment, Data: rawOf(d.Data), By: rawOf(d.Actor), At: d.CreatedAt.Time}
	}
	return out
}

func (h *handlers) approvals(api huma.API) {
	huma.Register(api, op("GET", "/approvals", "list-approvals", "List approvals", 200), h.listApprovals)
	huma.Register(api, op("GET", "/approvals/{id}", "get-approval", "Get an approval", 200), func(ctx context.Context, in *IDPath) (*body[Approval], error) {
		p, _ := auth.From(ctx)
		a, err := h.App.DB.Approval(ctx, p.AccountID, in.ID)
		if err != nil {
			return nil, h.fail(ctx, err)
		}
		return answer(approvalOf(a)), nil
	})
	huma.Register(api, op("POST", "/approvals/{id}/decisions", "decide-approval", "Answer an approval", 200), h.decide)
}

func (h *handlers) listApprovals(ctx context.Context, in *struct {
	Page
	Status string `query:"status" enum:"pending,decided,all" default:"pending"`
	Run    string `query:"run"`
	Search string `query:"q"`
},
) (*body[list[Approval]], error) {
	p, _ := auth.From(ctx)
	q := models.ApprovalQuery{AccountID: p.AccountID, Status: in.Status, RunID: in.Run, Search: in.Search, Cursor: in.Cursor, Limit: in.Limit}
	if q.Status == "all" {
		q.Status = ""
	}
	rows, next, err := h.App.DB.Approvals(ctx, q)
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	out := list[Approval]{Items: make([]Approval, len(rows)), NextCursor: next}
	for i, a := range rows {
		out.Items[i] = approvalOf(a)
	}
	return answer(out), nil
}

func (h *handlers) decide(ctx context.Context, in *struct {
	IDPath
	Body struct {
		Outcome string          `json:"outcome" minLength:"1"`
		Comment string          `json:"comment,omitempty"`
		Data    json.RawMessage `json:"data,omitempty"`
	}
},
) (*body[Approval], error) {
	p, _ := auth.From(ctx)
	a, err := h.App.Decide(ctx, p, in.ID, app.Decision{Outcome: in.Body.Outcome, Comment: in.Body.Comment, Data: in.Body.Data})
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	return answer(approvalOf(a)), nil
}
