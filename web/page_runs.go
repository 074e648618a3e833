package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"sluice/models"
	"sluice/views/page"
)

// runStatuses are the filters of the run list, in order.
var runStatuses = []string{"queued", "running", "pending_approval", "waiting", "succeeded", "failed", "rejected", "cancelled"}

func (s *Server) showRuns(c echo.Context) error {
	ctx, p := c.Request().Context(), principal(c)
	shell, err := s.shell(c, "Runs", "runs")
	if err != nil {
		return err
	}
	vm := page.Runs{Shell: shell, Search: c.QueryParam("q"), Status: c.QueryParam("status"), Workflow: c.QueryParam("workflow"), Cursor: c.QueryParam("cursor")}
	q := models.RunQuery{AccountID: p.AccountID, WorkflowID: vm.Workflow, Search: vm.Search, Cursor: vm.Cursor}
	counts, err := s.app.DB.RunCounts(ctx, q)
	if err != nil {
		return err
	}
	var all int64
	for _, n := range counts {
		all += n
	}
	vm.Chips = append(vm.Chips, page.Chip{Count: all})
	for _, st := range runStatuses {
		if counts[st] > 0 || st == vm.Status {
			vm.Chips = append(vm.Chips, page.Chip{Status: st, Count: counts[st]})
		}
	}
	if vm.Status != "" {
		q.Statuses = []string{vm.Status}
	}
	rows, next, err := s.app.DB.Runs(ctx, q)
	if err != nil {
		return err
	}
	vm.Next = next
	for _, r := range rows {
		vm.Items = append(vm.Items, runRow(r))
	}
	if vm.Workflow != "" {
		w, err := s.app.DB.Workflow(ctx, p.AccountID, vm.Workflow)
		if err != nil && !errors.Is(err, models.ErrNotFound) {
			return err
		}
		if vm.WorkflowName = w.Name; vm.WorkflowName == "" {
			vm.WorkflowName = "deleted workflow"
		}
	}
	return s.render(c, http.StatusOK, page.RunsPage(vm))
}

func (s *Server) showInspector(c echo.Context) error {
	r, err := s.app.DB.Run(c.Request().Context(), principal(c).AccountID, c.Param("id"))
	if err != nil {
		return err
	}
	shell, err := s.shell(c, "Run of "+r.WorkflowName, "runs")
	if err != nil {
		return err
	}
	shell.Styles, shell.Scripts = []string{"inspector.css"}, []string{"inspector.js"}
	return s.render(c, http.StatusOK, page.InspectorPage(page.Host{Shell: shell, ID: r.ID, Name: r.WorkflowName}))
}
