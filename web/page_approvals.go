package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/models"
	"sluice/views/page"
	"sluice/web/app"
)

// showApprovals is the inbox, with the approval of the path open.
func (s *Server) showApprovals(c echo.Context) error {
	vm, err := s.inbox(c, c.QueryParam("status"), c.QueryParam("q"), c.Param("id"))
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, page.ApprovalsPage(vm))
}

func (s *Server) inbox(c echo.Context, status, search, id string) (page.Approvals, error) {
	ctx, p := c.Request().Context(), principal(c)
	shell, err := s.shell(c, "Approvals", "approvals")
	if err != nil {
		return page.Approvals{}, err
	}
	if status != "decided" {
		status = "pending"
	}
	vm := page.Approvals{Shell: shell, Status: status, Search: search, Cursor: c.QueryParam("cursor")}
	rows, next, err := s.app.DB.Approvals(ctx, models.ApprovalQuery{AccountID: p.AccountID, Status: status, Search: search, Cursor: vm.Cursor})
	if err != nil {
		return vm, err
	}
	vm.Next = next
	for _, a := range rows {
		row := page.ApprovalRow{ID: a.ID, Title: a.Title, Workflow: a.WorkflowName, Status: a.Status, OpenedAt: a.OpenedAt.Time}
		if row.Preview, err = preview(a.Body); err != nil {
			return vm, err
		}
		if a.Decision != nil {
			outcomes, err := outcomesOf(a)
			if err != nil {
				return vm, err
			}
			row.Answer = labelOf(outcomes, a.Decision.Outcome)
		}
		vm.Items = append(vm.Items, row)
	}
	if id == "" {
		return vm, nil
	}
	a, err := s.app.DB.Approval(ctx, p.AccountID, id)
	if err != nil {
		return vm, err
	}
	current, err := letter(a, app.MayDecide(p, a))
	current.Step = s.app.StepTitle(ctx, a.AccountID, a.RunID, a.Address)
	vm.Current = &current
	return vm, err
}

func outcomesOf(a models.ApprovalItem) ([]engine.Outcome, error) {
	var out []engine.Outcome
	if a.Outcomes == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(a.Outcomes), &out); err != nil {
		return nil, fmt.Errorf("read outcomes of approval %s: %w", a.ID, err)
	}
	return out, nil
}

// letter is an approval as the inbox shows it.
func letter(a models.ApprovalItem, mayDecide bool) (page.Approval, error) {
	body, err := markdown(a.Body)
	if err != nil {
		return page.Approval{}, err
	}
	out := page.Approval{
		ID: a.ID, Title: a.Title, Workflow: a.WorkflowName, RunID: a.RunID, Address: a.Address, Department: a.Department, Status: a.Status,
		HTML: body, MayDecide: mayDecide, OpenedAt: a.OpenedAt.Time, DueAt: a.DueAt.Time, Reason: a.Reason, Editable: a.Content != "" || a.Schema != "",
	}
	out.Content, out.ContentIsText = readable(a.Content)
	out.Fields = contentFields(a.Schema, a.Content)
	outcomes, err := outcomesOf(a)
	if err != nil {
		return out, err
	}
	out.Outcomes = buttons(outcomes)
	for _, o := range outcomes {
		out.NeedsComment = out.NeedsComment || o.RequireComment
	}
	if d := a.Decision; d != nil {
		out.Outcome, out.Comment, out.DecidedBy, out.DecidedAt = labelOf(outcomes, d.Outcome), d.Comment, actorName(d.Actor), d.CreatedAt.Time
		out.Data, _ = readable(d.Data)
	}
	return out, nil
}

// buttons are the outcomes with a key for each, where a letter is free: j and k
// walk through the list.
func buttons(outcomes []engine.Outcome) []page.Outcome {
	taken := map[string]bool{"j": true, "k": true, "": true}
	out := make([]page.Outcome, 0, len(outcomes))
	for _, o := range outcomes {
		key := strings.ToLower(o.ID[:min(1, len(o.ID))])
		if taken[key] || key < "a" || key > "z" {
			key = ""
		}
		taken[key] = true
		out = append(out, page.Outcome{ID: o.ID, Label: o.Label, Tone: o.Tone, Key: key, RequireComment: o.RequireComment})
	}
	return out
}

func labelOf(outcomes []engine.Outcome, id string) string {
	for _, o := range outcomes {
		if o.ID == id {
			return o.Label
		}
	}
	return id
}

// readable shows JSON to people: text as it is, anything else indented.
func readable(raw string) (text string, isText bool) {
	if raw == "" || raw == "null" {
		return "", false
	}
	var s string
	if json.Unmarshal([]byte(raw), &s) == nil {
		return s, true
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(raw), "", "  ") != nil {
		return raw, false
	}
	return b.String(), false
}

// decideApproval takes an answer and opens the next approval. An answer that does
// not fit is shown again with what was typed; one that came second says who was
// first.
func (s *Server) decideApproval(c echo.Context) error {
	ctx, p, id := c.Request().Context(), principal(c), c.Param("id")
	form, err := c.FormParams()
	if err != nil {
		return echo.NewHTTPError(http.StatusBadRequest, "The form can't be read.")
	}
	a, err := s.app.DB.Approval(ctx, p.AccountID, id)
	if err != nil {
		return err
	}
	d := app.Decision{Outcome: form.Get("outcome"), Comment: unixLines(form.Get("comment"))}
	if d.Data, err = answerData(form, a); err == nil {
		_, err = s.app.Decide(ctx, p, id, d)
	}
	if err == nil {
		return s.nextApproval(c, a, form.Get("q"))
	}
	f := explain(err)
	if f.status != http.StatusUnprocessableEntity && f.status != http.StatusConflict {
		return err
	}
	vm, loadErr := s.inbox(c, "pending", form.Get("q"), id)
	if loadErr != nil {
		return errors.Join(err, loadErr)
	}
	vm.Error, vm.Issues = f.message, issueRows(f.issues)
	if f.status == http.StatusUnprocessableEntity {
		vm.Current.GivenComment = d.Comment
		keepTyped(vm.Current, form)
	}
	return s.render(c, f.status, page.ApprovalsPage(vm))
}

// keepTyped puts what was typed back into the content's form.
func keepTyped(a *page.Approval, form url.Values) {
	if form.Has("data") {
		a.Content = unixLines(form.Get("data"))
	}
	for i, f := range a.Fields {
		if form.Has("field:" + f.Name) {
			a.Fields[i].Value = unixLines(form.Get("field:" + f.Name))
		}
	}
}

// nextApproval goes to the pending approval below the one decided, or to the first.
func (s *Server) nextApproval(c echo.Context, decided models.ApprovalItem, search string) error {
	rows, _, err := s.app.DB.Approvals(c.Request().Context(), models.ApprovalQuery{AccountID: decided.AccountID, Status: "pending", Search: search})
	if err != nil {
		return err
	}
	flash(c, "Your answer was recorded")
	next := ""
	if len(rows) > 0 {
		next = rows[0].ID
	}
	for _, r := range rows {
		at := r.OpenedAt.Compare(decided.OpenedAt.Time)
		if at < 0 || at == 0 && r.ID < decided.ID {
			next = r.ID
			break
		}
	}
	return c.Redirect(http.StatusSeeOther, page.Approvals{Status: "pending", Search: search}.URL(next))
}
