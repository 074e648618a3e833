package web

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sluice/models"
	"sluice/static"
	"sluice/web/app"
	"sluice/web/auth"
)

// Deps are what the server joins.
type Deps struct {
	App     *app.Service
	Auth    *auth.Authenticator
	API     http.Handler
	Live    http.Handler
	Metrics prometheus.Gatherer
	Log     *slog.Logger
	BaseURL string
	Version string
	// Demo tells that no model is set up.
	Demo bool
	// ProbesOnly leaves out pages, API and websocket: a process that only works runs
	// answers for its health and its metrics.
	ProbesOnly bool
}

// Server is the handler of all requests.
type Server struct {
	deps Deps
	app  *app.Service
	auth *auth.Authenticator
	echo *echo.Echo
}

// maxForm bounds the body of a page's request; the API has its own limit.
const maxForm = "16M"

// New returns the handler.
func New(d Deps) (http.Handler, error) {
	s := &Server{deps: d, app: d.App, auth: d.Auth, echo: echo.New()}
	e := s.echo
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.handleError
	e.IPExtractor = echo.ExtractIPDirect()
	e.Use(middleware.RequestID(), s.accessLog, middleware.Recover(), s.secure)
	e.GET("/healthz", func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") })
	e.GET("/readyz", s.ready)
	if d.Metrics != nil {
		e.GET("/metrics", echo.WrapHandler(promhttp.HandlerFor(d.Metrics, promhttp.HandlerOpts{})))
	}
	if d.ProbesOnly {
		return e, nil
	}
	e.GET("/static/*", echo.WrapHandler(static.Handler()))
	e.Any("/api/*", echo.WrapHandler(d.API))
	e.GET("/ws", echo.WrapHandler(d.Live))
	s.routes(e)
	cross := http.NewCrossOriginProtection()
	guarded := cross.Handler(e)
	return d.Auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A bearer token is never sent by a browser on its own, so such requests can't
		// be forged by another site.
		if auth.Bearer(r) {
			e.ServeHTTP(w, r)
			return
		}
		guarded.ServeHTTP(w, r)
	})), nil
}

// ready answers whether the database does.
func (s *Server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), 2*time.Second)
	defer cancel()
	if _, _, err := s.app.DB.UserByAPIToken(ctx, "-"); err != nil && !errors.Is(err, models.ErrNotFound) {
		return c.String(http.StatusServiceUnavailable, "the database does not answer\n")
	}
	return c.String(http.StatusOK, "ready\n")
}

type nonceKey struct{}

// Nonce is the request's nonce for scripts.
func Nonce(ctx context.Context) string {
	n, _ := ctx.Value(nonceKey{}).(string)
	return n
}

// secure sets the headers that keep a page's content from doing harm. Nothing is
// inline and nothing comes from elsewhere.
func (s *Server) secure(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails: it aborts the program instead
		nonce := base64.RawURLEncoding.EncodeToString(b[:])
		c.SetRequest(c.Request().WithContext(context.WithValue(c.Request().Context(), nonceKey{}, nonce)))
		h := c.Response().Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self' 'nonce-"+nonce+"'; style-src 'self'; img-src 'self' data:; font-src 'self'; "+
			"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if !strings.HasPrefix(c.Request().URL.Path, "/static/") {
			h.Set("Cache-Control", "no-store")
		}
		return next(c)
	}
}

// accessLog writes a line per request, static files and probes left out. Paths
// that carry a secret are shortened.
func (s *Server) accessLog(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		began := time.Now()
		err := next(c)
		if err != nil {
			c.Error(err)
		}
		path := c.Request().URL.Path
		switch {
		case strings.HasPrefix(path, "/static/"), path == "/healthz", path == "/readyz", path == "/metrics":
			return nil
		case strings.HasPrefix(path, "/login/"):
			path = "/login/…"
		}
		s.deps.Log.DebugContext(c.Request().Context(), "request", "method", c.Request().Method, "path", path, "status", c.Response().Status,
			"took", time.Since(began).Round(time.Microsecond), "id", c.Response().Header().Get(echo.HeaderXRequestID))
		return nil
	}
}

// maxFormTime bounds how long a page's form may take to arrive; the API has its own
// limit.
const maxFormTime = time.Minute

func inTime(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Request().ContentLength != 0 {
			// Where deadlines can't be set, as in tests without a connection, there is none.
			_ = http.NewResponseController(c.Response()).SetReadDeadline(time.Now().Add(maxFormTime))
		}
		return next(c)
	}
}

// requireUser sends browsers of nobody to the sign-in page.
func (s *Server) requireUser(next echo.HandlerFunc) echo.HandlerFunc {
	limit := inTime(middleware.BodyLimit(maxForm)(next))
	return func(c echo.Context) error {
		if _, ok := auth.From(c.Request().Context()); ok {
			return limit(c)
		}
		if c.Request().Header.Get("HX-Request") != "" {
			c.Response().Header().Set("HX-Redirect", "/login")
			return c.NoContent(http.StatusUnauthorized)
		}
		return c.Redirect(http.StatusSeeOther, "/login")
	}
}

// principal is who sends the request, behind requireUser.
func principal(c echo.Context) auth.Principal {
	p, _ := auth.From(c.Request().Context())
	return p
}
