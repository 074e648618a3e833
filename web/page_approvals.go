package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

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
	vm := page.Approvals{Shell: shell, Status: status, Search: search}
	rows, next, err := s.app.DB.Approvals(ctx, models.ApprovalQuery{AccountID: p.AccountID, Status: status, Search: search, Cursor: c.QueryParam("cursor")})
	if err != nil {
		return vm, err
	}
	vm.Next = next
	for _, a := range rows {
		vm.Items = append(vm.Items, page.ApprovalRow{
			ID: a.ID, Title: a.Title, Workflow: a.WorkflowName, Preview: preview(a.Body), Status: a.Status, OpenedAt: a.OpenedAt.Time,
		})
	}
	if id == "" {
		return vm, nil
	}
	a, err := s.app.DB.Approval(ctx, p.AccountID, id)
	if err != nil {
		return vm, err
	}
	current, err := letter(a, app.MayDecide(p, a))
	vm.Current = &current
	return vm, err
}

// preview is the beginning of a text in one line.
func preview(body string) string {
	r := []rune(strings.Join(strings.Fields(body), " "))
	return string(r[:min(len(r), 120)])
}

// letter is an approval as the inbox shows it.
func letter(a models.ApprovalItem, mayDecide bool) (page.Approval, error) {
	html, err := markdown(a.Body)
	if err != nil {
		return page.Approval{}, err
	}
	out := page.Approval{
		ID: a.ID, Title: a.Title, Workflow: a.WorkflowName, RunID: a.RunID, Address: a.Address, Department: a.Department, Status: a.Status,
		HTML: html, MayDecide: mayDecide, OpenedAt: a.OpenedAt.Time, DueAt: a.DueAt.Time, Reason: a.Reason, Editable: a.Content != "",
	}
	out.Content, out.ContentIsText = readable(a.Content)
	out.Fields = contentFields(a.Schema, a.Content)
	var outcomes []engine.Outcome
	if a.Outcomes != "" {
		if err := json.Unmarshal([]byte(a.Outcomes), &outcomes); err != nil {
			return out, err
		}
	}
	taken := map[string]bool{}
	for _, o := range outcomes {
		key := strings.ToLower(o.ID[:1])
		if taken[key] || key < "a" || key > "z" {
			key = ""
		}
		taken[key] = true
		out.Outcomes = append(out.Outcomes, page.Outcome{ID: o.ID, Label: o.Label, Tone: o.Tone, Key: key, RequireComment: o.RequireComment})
		out.NeedsComment = out.NeedsComment || o.RequireComment
	}
	if d := a.Decision; d != nil {
		out.Outcome, out.Comment, out.DecidedBy, out.DecidedAt = labelOf(outcomes, d.Outcome), d.Comment, actorName(d.Actor), d.CreatedAt.Time
		out.Data, _ = readable(d.Data)
	}
	return out, nil
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

// markdown renders untrusted text: no scripts, no styles, no pictures from
// elsewhere.
func markdown(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	var b bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(text), &b); err != nil {
		return "", err
	}
	policy := bluemonday.UGCPolicy()
	policy.RequireNoReferrerOnLinks(true)
	policy.AddTargetBlankToFullyQualifiedLinks(true)
	return policy.Sanitize(b.String()), nil
}

// decideApproval takes an answer and opens the next approval. An answer that does
// not fit is shown again with what was typed; one that came second says who was
// first.
func (s *Server) decideApproval(c echo.Context) error {
	ctx, p, id := c.Request().Context(), principal(c), c.Param("id")
	d := app.Decision{Outcome: c.FormValue("outcome"), Comment: c.FormValue("comment")}
	var err error
	if d.Data, err = answerData(c); err == nil {
		_, err = s.app.Decide(ctx, p, id, d)
	}
	if err == nil {
		return s.nextApproval(c, c.FormValue("q"))
	}
	f := explain(err)
	if f.status != http.StatusUnprocessableEntity && f.status != http.StatusConflict {
		return err
	}
	vm, loadErr := s.inbox(c, "pending", c.FormValue("q"), id)
	if loadErr != nil {
		return errors.Join(err, loadErr)
	}
	vm.Error, vm.Current.GivenComment = f.message, d.Comment
	if text := c.FormValue("data"); text != "" {
		vm.Current.Content = text
	}
	for i := range vm.Current.Fields {
		vm.Current.Fields[i].Value = c.FormValue("field:" + vm.Current.Fields[i].Name)
	}
	return s.render(c, f.status, page.ApprovalsPage(vm))
}

// nextApproval goes to the oldest approval that is still pending.
func (s *Server) nextApproval(c echo.Context, search string) error {
	rows, _, err := s.app.DB.Approvals(c.Request().Context(), models.ApprovalQuery{AccountID: principal(c).AccountID, Status: "pending", Search: search})
	if err != nil {
		return err
	}
	flash(c, "Your answer was recorded")
	path := "/approvals"
	if len(rows) > 0 {
		path += "/" + rows[0].ID
	}
	return c.Redirect(http.StatusSeeOther, path)
}
