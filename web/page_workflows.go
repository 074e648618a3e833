package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/examples"
	"sluice/models"
	"sluice/views/page"
	"sluice/web/app"
)

func (s *Server) showWorkflows(c echo.Context) error {
	shell, err := s.shell(c, "Workflows", "workflows")
	if err != nil {
		return err
	}
	search := c.QueryParam("q")
	rows, next, err := s.app.DB.Workflows(c.Request().Context(), models.WorkflowQuery{
		AccountID: principal(c).AccountID, Search: search, Cursor: c.QueryParam("cursor"),
	})
	if err != nil {
		return err
	}
	all, err := examples.All()
	if err != nil {
		return err
	}
	vm := page.Workflows{Shell: shell, Search: search, Next: next}
	for _, r := range rows {
		vm.Items = append(vm.Items, page.WorkflowRow{
			ID: r.ID, Name: r.Name, Description: r.Description, Published: r.PublishedVersion, UpdatedBy: r.UpdatedBy, UpdatedAt: r.UpdatedAt.Time,
			LastRunID: r.LastRunID, LastRunStatus: r.LastRunStatus, LastRunAt: r.LastRunAt.Time,
		})
	}
	for _, e := range all {
		vm.Examples = append(vm.Examples, page.Example{Slug: e.Slug, Name: e.Name, Description: e.Description})
	}
	return s.render(c, http.StatusOK, page.WorkflowsPage(vm))
}

// createWorkflow makes a blank workflow, or a copy of an example.
func (s *Server) createWorkflow(c echo.Context) error {
	name := strings.TrimSpace(c.FormValue("name"))
	data := app.Blank(name)
	if slug := c.FormValue("example"); slug != "" {
		e, err := examples.Get(slug)
		if err != nil {
			return echo.NewHTTPError(http.StatusNotFound, "There is no such example.")
		}
		data = e.Definition
	}
	w, err := s.app.Create(c.Request().Context(), principal(c), data, name)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/workflows/"+w.ID)
}

// importWorkflow takes a file or pasted text. What can't be read is shown again with
// the reason; nothing that was pasted is lost.
func (s *Server) importWorkflow(c echo.Context) error {
	text, err := importText(c)
	if err != nil {
		return err
	}
	shell, err := s.shell(c, "Import", "workflows")
	if err != nil {
		return err
	}
	w, err := s.app.Create(c.Request().Context(), principal(c), []byte(text), "")
	var bad *engine.InvalidError
	switch {
	case errors.As(err, &bad):
		return s.render(c, http.StatusUnprocessableEntity, page.ImportPage(page.ImportResult{Shell: shell, Error: bad.Message, Text: text}))
	case err != nil:
		return err
	case len(w.Issues) > 0:
		return s.render(c, http.StatusOK, page.ImportPage(page.ImportResult{Shell: shell, ID: w.ID, Name: w.Name, Issues: issueRows(w.Issues)}))
	}
	return c.Redirect(http.StatusSeeOther, "/workflows/"+w.ID)
}

func importText(c echo.Context) (string, error) {
	file, err := c.FormFile("file")
	if err != nil {
		return c.FormValue("text"), nil // no file was chosen
	}
	f, err := file.Open()
	if err != nil {
		return "", fmt.Errorf("open uploaded file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return "", fmt.Errorf("read uploaded file: %w", err)
	}
	if len(data) == 0 {
		return c.FormValue("text"), nil
	}
	return string(data), nil
}

func (s *Server) showBuilder(c echo.Context) error {
	w, err := s.app.DB.Workflow(c.Request().Context(), principal(c).AccountID, c.Param("id"))
	if err != nil {
		return err
	}
	shell, err := s.shell(c, w.Name, "workflows")
	if err != nil {
		return err
	}
	shell.Styles, shell.Scripts = []string{"builder.css"}, []string{"builder.js"}
	return s.render(c, http.StatusOK, page.BuilderPage(page.Host{Shell: shell, ID: w.ID, Name: w.Name}))
}

func (s *Server) exportWorkflow(c echo.Context) error {
	w, err := s.app.DB.Workflow(c.Request().Context(), principal(c).AccountID, c.Param("id"))
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="workflow-`+w.ID+`.json"`)
	return c.JSONBlob(http.StatusOK, []byte(w.Draft))
}

func (s *Server) duplicateWorkflow(c echo.Context) error {
	w, err := s.app.Duplicate(c.Request().Context(), principal(c), c.Param("id"))
	if err != nil {
		return err
	}
	flash(c, "Copied as “"+w.Name+"”")
	return c.Redirect(http.StatusSeeOther, "/workflows")
}

func (s *Server) deleteWorkflow(c echo.Context) error {
	if err := s.app.Delete(c.Request().Context(), principal(c), c.Param("id")); err != nil {
		return err
	}
	flash(c, "The workflow was deleted")
	return c.Redirect(http.StatusSeeOther, "/workflows")
}
