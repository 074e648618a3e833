// Package auth finds out who sends a request, from a session cookie or a bearer
// token, and says what they may do.
package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"sluice/engine"
	"sluice/models"
)

// Principal is who sends a request.
type Principal struct {
	AccountID string
	UserID    string
	Name      string
	Email     string
	Role      string
	// Token is the id of the API token used, or empty for a browser.
	Token string
	// session is the browser's session, as a secret text.
	session string
}

// Credential names what the principal has shown: an API token or a session. Empty
// for one that was made without.
func (p Principal) Credential() string {
	switch {
	case p.Token != "":
		return TokenCredential(p.Token)
	case p.session != "":
		return "session:" + p.session
	default:
		return ""
	}
}

// TokenCredential names an API token by its id.
func TokenCredential(id string) string { return "token:" + id }

// Actor is the principal as the engine and the audit log name them.
func (p Principal) Actor() engine.Actor {
	return engine.Actor{Kind: "user", ID: p.UserID, Name: p.Name}
}

type contextKey struct{}

// With returns a context that carries the principal.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// From is the principal of a request; false if nobody is signed in.
func From(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(contextKey{}).(Principal)
	return p, ok
}

// sessionUser and sessionAccount are the session's keys.
const (
	sessionUser    = "user"
	sessionAccount = "account"
)

// Authenticator resolves principals.
type Authenticator struct {
	db       *models.DB
	sessions *scs.SessionManager
	ended    func(credential string)
}

// New returns an authenticator whose cookies are sent over https only if secure.
func New(db *models.DB, secure bool) *Authenticator {
	m := scs.New()
	m.Store = db.Sessions()
	m.Lifetime = 30 * 24 * time.Hour
	m.IdleTimeout = 7 * 24 * time.Hour
	m.Cookie.Name = "sluice_session"
	m.Cookie.HttpOnly = true
	m.Cookie.SameSite = http.SameSiteLaxMode
	m.Cookie.Secure = secure
	return &Authenticator{db: db, sessions: m, ended: func(string) {}}
}

// Secure sets whether cookies are sent over https only. Call it before requests come.
func (a *Authenticator) Secure(secure bool) { a.sessions.Cookie.Secure = secure }

// OnEnded sets what is told the credential of each session that somebody signs out
// of. Call it before requests come.
func (a *Authenticator) OnEnded(f func(credential string)) { a.ended = f }

// Check finds out whether a principal is still valid: [models.ErrNotFound] if the
// session or token has ended or the user is gone. One without a credential is.
func (a *Authenticator) Check(ctx context.Context, p Principal) error {
	switch {
	case p.Token != "":
		if err := a.db.APITokenExists(ctx, p.AccountID, p.Token); err != nil {
			return err
		}
	case p.session != "":
		if err := a.sessionOf(ctx, p); err != nil {
			return err
		}
	}
	if _, err := a.db.User(ctx, p.AccountID, p.UserID); err != nil {
		return fmt.Errorf("principal: %w", err)
	}
	return nil
}

// sessionOf looks whether the principal's session is still theirs.
func (a *Authenticator) sessionOf(ctx context.Context, p Principal) error {
	data, found, err := a.db.Sessions().FindCtx(ctx, p.session)
	if err != nil {
		return fmt.Errorf("read session: %w", err)
	}
	if !found {
		return fmt.Errorf("session: %w", models.ErrNotFound)
	}
	_, values, err := a.sessions.Codec.Decode(data)
	if err != nil || values[sessionUser] != p.UserID || values[sessionAccount] != p.AccountID {
		return fmt.Errorf("session: %w", models.ErrNotFound)
	}
	return nil
}

// Middleware loads the session and puts the principal into the request's context.
// Requests of nobody pass: handlers that need somebody use [Require].
func (a *Authenticator) Middleware(next http.Handler) http.Handler {
	resolve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := a.bySession(r.Context())
		if err == nil {
			r = r.WithContext(With(r.Context(), p))
		} else if !errors.Is(err, models.ErrNotFound) {
			http.Error(w, "The database does not answer.", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
	withSession := a.sessions.LoadAndSave(resolve)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := bearer(r)
		switch {
		case !ok && strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
			a.readSession(resolve).ServeHTTP(w, r)
			return
		case !ok:
			withSession.ServeHTTP(w, r)
			return
		}
		p, err := a.byToken(r.Context(), token)
		switch {
		case err == nil:
			r = r.WithContext(With(r.Context(), p))
		case !errors.Is(err, models.ErrNotFound):
			http.Error(w, "The database does not answer.", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// readSession loads the session and never writes it: a socket outlives its request,
// and has no answer that a cookie could go with.
func (a *Authenticator) readSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var token string
		if c, err := r.Cookie(a.sessions.Cookie.Name); err == nil {
			token = c.Value
		}
		ctx, err := a.sessions.Load(r.Context(), token)
		if err != nil {
			http.Error(w, "The database does not answer.", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Bearer reports whether a request carries a token instead of a cookie: other
// sites can't make a browser send one, so it needs no check of its origin.
func Bearer(r *http.Request) bool {
	_, ok := bearer(r)
	return ok
}

func bearer(r *http.Request) (string, bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}

func (a *Authenticator) bySession(ctx context.Context) (Principal, error) {
	id := a.sessions.GetString(ctx, sessionUser)
	if id == "" {
		return Principal{}, models.ErrNotFound
	}
	u, err := a.db.User(ctx, a.sessions.GetString(ctx, sessionAccount), id)
	if err != nil {
		return Principal{}, fmt.Errorf("session: %w", err)
	}
	p := principal(u)
	p.session = a.sessions.Token(ctx)
	return p, nil
}

// touchEvery bounds how often a token's last use is written.
const touchEvery = time.Minute

func (a *Authenticator) byToken(ctx context.Context, token string) (Principal, error) {
	u, t, err := a.db.UserByAPIToken(ctx, token)
	if err != nil {
		return Principal{}, fmt.Errorf("bearer token: %w", err)
	}
	if time.Since(t.LastUsedAt.Time) > touchEvery {
		if err := a.db.TouchAPIToken(ctx, t.ID); err != nil {
			return Principal{}, err
		}
	}
	p := principal(u)
	p.Token = t.ID
	return p, nil
}

func principal(u models.User) Principal {
	return Principal{AccountID: u.AccountID, UserID: u.ID, Name: u.Name, Email: u.Email, Role: u.Role}
}

// SignIn starts a session for a user. The request must have passed Middleware.
func (a *Authenticator) SignIn(ctx context.Context, u models.User) error {
	if err := a.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("start session: %w", err)
	}
	a.sessions.Put(ctx, sessionUser, u.ID)
	a.sessions.Put(ctx, sessionAccount, u.AccountID)
	return nil
}

// SignOut ends the session.
func (a *Authenticator) SignOut(ctx context.Context) error {
	p := Principal{session: a.sessions.Token(ctx)}
	if err := a.sessions.Destroy(ctx); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	if credential := p.Credential(); credential != "" {
		a.ended(credential)
	}
	return nil
}
