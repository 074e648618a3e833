// Package api is the REST API under /api/v1, with its OpenAPI 3.1 document at
// /api/openapi.json. Errors follow RFC 9457.
//
// JSON that belongs to workflows (definitions, inputs, outputs) passes through byte
// for byte: 64-bit integers and the order of keys survive.
package api

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"sluice/engine/trace"
	"sluice/web/app"
	"sluice/web/auth"
)

// Deps are what the API works with.
type Deps struct {
	App     *app.Service
	Hub     *trace.Hub
	Log     *slog.Logger
	Version string
}

// handlers holds what every operation needs.
type handlers struct {
	Deps
}

// MaxBody bounds a request's body, bodyTimeout how long it may take to arrive.
const (
	MaxBody     = 16 << 20
	bodyTimeout = 30 * time.Second
)

// New returns the API's handler. It expects the principal in the request's
// context; see [auth.Authenticator.Middleware].
func New(d Deps) http.Handler {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = noRoute
	config := huma.DefaultConfig("Sluice", d.Version)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "/api/openapi", "", ""
	config.CreateHooks = nil
	config.Formats = map[string]huma.Format{"application/json": exactJSON, "json": exactJSON}
	config.Transformers = append(config.Transformers, withoutValues)
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"bearer": {Type: "http", Scheme: "bearer"}}
	config.Security = []map[string][]string{{"bearer": {}}}
	api := humaecho.New(e, config)
	h := &handlers{d}
	api.UseMiddleware(h.signedIn(api))
	h.workflows(api)
	h.runs(api)
	h.approvals(api)
	h.recipes(api)
	h.tokens(api)
	h.people(api)
	return e
}

// noRoute answers for paths and methods that no operation has. Everything else that
// can go wrong is answered by its operation.
func noRoute(err error, c echo.Context) {
	status, detail := http.StatusInternalServerError, "something went wrong here; the server's log says what"
	if he, ok := errors.AsType[*echo.HTTPError](err); ok {
		switch status = he.Code; status {
		case http.StatusNotFound:
			detail = "the API has no " + c.Request().URL.Path + "; see /api/openapi.json"
		case http.StatusMethodNotAllowed:
			detail = c.Request().URL.Path + " does not take " + c.Request().Method + "; see /api/openapi.json"
		default:
			detail = http.StatusText(status)
		}
	}
	c.Response().Header().Set(echo.HeaderContentType, "application/problem+json")
	_ = c.JSON(status, newProblem(status, detail)) // the client has gone if this fails
}

// signedIn refuses requests of nobody.
func (h *handlers) signedIn(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if _, ok := auth.From(ctx.Context()); !ok {
			ctx.SetHeader("WWW-Authenticate", "Bearer")
			if err := huma.WriteErr(api, ctx, http.StatusUnauthorized, "sign in, or send a valid bearer token"); err != nil {
				h.Log.Warn("write error", "err", err)
			}
			return
		}
		next(ctx)
	}
}

// op describes an operation with the limits that all share.
func op(method, path, id, summary string, status int) huma.Operation {
	return huma.Operation{
		Method: method, Path: "/api/v1" + path, OperationID: id, Summary: summary, DefaultStatus: status,
		MaxBodyBytes: MaxBody, BodyReadTimeout: bodyTimeout,
	}
}

// raw is op for bodies that are taken as they are: a workflow in any of its forms,
// which the service checks better than a schema could.
func raw(o huma.Operation) huma.Operation {
	o.SkipValidateBody = true
	return o
}

// Page is the query of every list.
type Page struct {
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

// list is a page of any list.
type list[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// body wraps an answer's body.
type body[T any] struct{ Body T }

func answer[T any](v T) *body[T] { return &body[T]{v} }
