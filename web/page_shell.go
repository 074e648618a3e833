package web

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/models"
	"sluice/views/layout"
	"sluice/views/page"
)

// shell is the frame of a page.
func (s *Server) shell(c echo.Context, title, section string) (layout.Shell, error) {
	p := principal(c)
	pending, err := s.app.DB.PendingApprovals(c.Request().Context(), p.AccountID)
	if err != nil {
		return layout.Shell{}, err
	}
	return layout.Shell{
		Title: title, Section: section, User: p.Name, Pending: pending, Demo: s.deps.Demo, Version: s.deps.Version, Flash: takeFlash(c),
	}, nil
}

// maxFlash bounds a message in characters, so that it fits into a cookie.
const (
	flashCookie = "sluice_flash"
	maxFlash    = 200
)

// flash leaves a message for the next page.
func flash(c echo.Context, message string) {
	if runes := []rune(message); len(runes) > maxFlash {
		message = string(runes[:maxFlash]) + "…"
	}
	//nolint:gosec // secure where the connection is
	c.SetCookie(&http.Cookie{
		Name: flashCookie, Value: url.QueryEscape(message), Path: "/", MaxAge: 60, HttpOnly: true, Secure: c.IsTLS(), SameSite: http.SameSiteLaxMode,
	})
}

func takeFlash(c echo.Context) string {
	cookie, err := c.Cookie(flashCookie)
	if err != nil || cookie.Value == "" {
		return ""
	}
	//nolint:gosec // secure where the connection is
	c.SetCookie(&http.Cookie{Name: flashCookie, Path: "/", MaxAge: -1, HttpOnly: true, Secure: c.IsTLS(), SameSite: http.SameSiteLaxMode})
	message, err := url.QueryUnescape(cookie.Value)
	if err != nil {
		return ""
	}
	return message
}

// errorPage tells an error as a page, or as a fragment where a part of a page was
// asked for.
func (s *Server) errorPage(c echo.Context, f failure) error {
	p := page.Problem{Status: f.status, Title: titleOf(f.status), Message: f.message, Issues: issueRows(f.issues)}
	if c.Request().Header.Get("HX-Request") != "" {
		c.Response().Header().Set("HX-Retarget", "#toasts")
		c.Response().Header().Set("HX-Reswap", "beforeend")
		return s.render(c, f.status, page.Fragment(p))
	}
	return s.render(c, f.status, page.Error(p))
}

func titleOf(status int) string {
	switch status {
	case http.StatusNotFound:
		return "Not found"
	case http.StatusUnprocessableEntity:
		return "That did not fit"
	case http.StatusConflict:
		return "Somebody was first"
	default:
		return http.StatusText(status)
	}
}

func issueRows(issues engine.Issues) []page.Issue {
	out := make([]page.Issue, len(issues))
	for i, is := range issues {
		where := is.NodeID
		if is.Field != "" {
			if where != "" {
				where += " · "
			}
			where += is.Field
		}
		out[i] = page.Issue{Where: where, Message: is.Message, Fix: is.Fix, Error: is.Severity == engine.SeverityError}
	}
	return out
}

// actorName reads a stored actor's name.
func actorName(stored string) string {
	var a engine.Actor
	if stored == "" || json.Unmarshal([]byte(stored), &a) != nil {
		return ""
	}
	if a.Name == "" {
		return a.Kind
	}
	return a.Name
}

// errorText is a stored step error in one line.
func errorText(stored string) string {
	var e engine.StepError
	if stored == "" || json.Unmarshal([]byte(stored), &e) != nil {
		return ""
	}
	return e.Message
}

func runRow(r models.RunItem) page.RunRow {
	return page.RunRow{
		ID: r.ID, WorkflowName: r.WorkflowName, Status: r.Status, By: actorName(r.StartedBy), Error: errorText(r.Error), Version: r.Version,
		CreatedAt: r.CreatedAt.Time, StartedAt: r.StartedAt.Time, EndedAt: r.EndedAt.Time,
	}
}
