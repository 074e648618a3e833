package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/models"
)

// render writes a component. It is buffered, so that an error becomes a clean page
// instead of half of one.
func (s *Server) render(c echo.Context, code int, component templ.Component) error {
	var b bytes.Buffer
	ctx := templ.WithNonce(c.Request().Context(), Nonce(c.Request().Context()))
	if err := component.Render(ctx, &b); err != nil {
		return fmt.Errorf("render %s: %w", c.Path(), err)
	}
	c.Response().Header().Add("Vary", "HX-Request")
	return c.HTMLBlob(code, b.Bytes())
}

// failure is an error as a page tells it.
type failure struct {
	status  int
	message string
	issues  engine.Issues
}

// explain turns an error into what a person is told: the only place that does.
func explain(err error) failure {
	var he *echo.HTTPError
	var bad *engine.InvalidError
	var stale *models.StaleError
	var conflict *engine.ConflictError
	switch {
	case errors.As(err, &bad):
		return failure{http.StatusUnprocessableEntity, bad.Message, bad.Issues}
	case errors.As(err, &stale):
		return failure{status: http.StatusConflict, message: stale.Error()}
	case errors.As(err, &conflict):
		return failure{status: http.StatusConflict, message: conflict.Message}
	case errors.Is(err, models.ErrNotFound), errors.Is(err, engine.ErrNotFound):
		return failure{status: http.StatusNotFound, message: "There is nothing here. It may have been deleted, or the address is wrong."}
	case errors.Is(err, models.ErrCursor):
		return failure{status: http.StatusBadRequest, message: "This address is out of date. Start from the top of the list."}
	case errors.As(err, &he):
		f := failure{status: he.Code, message: http.StatusText(he.Code)}
		if text, ok := he.Message.(string); ok && he.Code < 500 {
			f.message = text
		}
		if he.Code == http.StatusNotFound {
			f.message = "There is no such page."
		}
		return f
	default:
		return failure{status: http.StatusInternalServerError}
	}
}

// handleError answers an error as a page, a fragment or JSON, by who asks. Causes
// of server errors go to the log alone; the answer names the request.
func (s *Server) handleError(err error, c echo.Context) {
	if c.Response().Committed || errors.Is(err, context.Canceled) && c.Request().Context().Err() != nil {
		return
	}
	f := explain(err)
	id := c.Response().Header().Get(echo.HeaderXRequestID)
	if f.status >= http.StatusInternalServerError {
		s.deps.Log.ErrorContext(c.Request().Context(), "request failed", "path", c.Request().URL.Path, "err", err, "id", id)
		f.message = "Something went wrong here. The server's log says what, under " + id + "."
	}
	path := c.Request().URL.Path
	var answer error
	if strings.HasPrefix(path, "/api/") || path == "/ws" {
		c.Response().Header().Set(echo.HeaderContentType, "application/problem+json")
		answer = c.JSON(f.status, map[string]any{"title": http.StatusText(f.status), "status": f.status, "detail": f.message, "issues": f.issues})
	} else {
		answer = s.errorPage(c, f)
	}
	if answer != nil {
		s.deps.Log.WarnContext(c.Request().Context(), "answer failed", "path", path, "err", answer)
	}
}
