// Package webtest joins the real engine, store and database for tests of the API
// and the websocket.
package webtest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/gormstore"
	"sluice/engine/nodes"
	"sluice/engine/trace"
	"sluice/models"
	"sluice/web/api"
	"sluice/web/app"
	"sluice/web/auth"
	"sluice/web/live"
)

// World is a running product without pages.
type World struct {
	DB     *models.DB
	App    *app.Service
	Engine *engine.Engine
	Hub    *trace.Hub
	Tracer *trace.Fanout
	Owner  models.User
	Token  string
	Auth   *auth.Authenticator
	API    http.Handler
	Live   *live.Server
	// Server serves API and websocket, behind authentication.
	Server *httptest.Server
}

// New starts a world on a database.
func New(t testing.TB, db *models.DB) *World {
	t.Helper()
	return Start(t, db, Options{})
}

// Options change a world.
type Options struct {
	// WebOnly leaves runs to other worlds on the database.
	WebOnly bool
}

// Start starts a world with options.
func Start(t testing.TB, db *models.DB, o Options) *World {
	t.Helper()
	ctx := context.Background()
	log := slog.New(slog.DiscardHandler)
	w := &World{DB: db, Hub: trace.NewHub()}
	var err error
	w.Owner, _, err = db.Bootstrap(ctx)
	require.NoError(t, err)
	_, w.Token, err = db.CreateAPIToken(ctx, w.Owner, "test")
	require.NoError(t, err)
	reg, err := nodes.Registry(nodes.Deps{Recipes: app.Recipes{DB: db}, HTTP: nodes.HTTPOptions{AllowPrivate: true}})
	require.NoError(t, err)
	store := gormstore.New(db, gormstore.Options{WebOnly: o.WebOnly})
	require.NoError(t, store.Start(ctx))
	w.Tracer = trace.NewFanout(w.Hub, nil, trace.NewStored(app.Spans{DB: db}, log))
	require.NoError(t, w.Tracer.Start(ctx))
	w.Engine, err = engine.New(engine.Config{Store: store, Definitions: store, Registry: reg, Tracer: w.Tracer})
	require.NoError(t, err)
	if !o.WebOnly {
		require.NoError(t, w.Engine.Start(ctx))
	}
	peers := app.NewPeers(app.PeerOptions{DB: db, Hub: w.Hub, Engine: w.Engine, Works: !o.WebOnly, Due: store.Due, Log: log})
	require.NoError(t, peers.Start(ctx))
	w.App = &app.Service{DB: db, Engine: w.Engine, Registry: reg}
	w.Auth = auth.New(db, false)
	w.API = api.New(api.Deps{App: w.App, Hub: w.Hub, Log: log, Version: "test"})
	w.Live = live.New(db, w.Hub, api.View(db), w.Auth.Check, log)
	w.App.Ended = w.Live.SignedOut
	w.Auth.OnEnded(w.Live.SignedOut)
	mux := http.NewServeMux()
	mux.Handle("/api/", w.API)
	mux.Handle("/ws", w.Live)
	w.Server = httptest.NewServer(w.Auth.Middleware(mux))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		w.Live.Close()
		w.Server.Close()
		require.NoError(t, peers.Stop(ctx))
		require.NoError(t, w.Engine.Stop(ctx))
		require.NoError(t, w.Tracer.Stop(ctx))
		require.NoError(t, store.Stop(ctx))
	})
	return w
}

// Principal is the owner, as a signed-in person.
func (w *World) Principal() auth.Principal {
	return auth.Principal{AccountID: w.Owner.AccountID, UserID: w.Owner.ID, Name: w.Owner.Name, Email: w.Owner.Email, Role: w.Owner.Role}
}
