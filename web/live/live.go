// Package live is the websocket: run traces as they grow, and the inbox's count.
//
// A client subscribes to topics ("run:<id>", "inbox") and says which sequence number
// it has seen. It enters the topic's room first, then gets what is stored, page by
// page, then the room's frames: no span falls between. A frame is made and encoded
// once for all members. A client that does not keep up reads from the database what
// it has missed, so that it costs no memory, and nobody waits for it.
//
// Who a client is was found out at the upgrade; it is looked at again with every
// subscription and every ping, and at once where this process ends a session or a
// token.
package live

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"sluice/engine/trace"
	"sluice/models"
	"sluice/web/auth"
)

// Times and sizes of a connection.
const (
	frameEvery   = 50 * time.Millisecond
	writeTimeout = 10 * time.Second
	slowest      = 64 << 10 // bytes a second of a line that still counts as one
	pongTimeout  = 60 * time.Second
	pingEvery    = 25 * time.Second
	maxMessage   = 16 << 10
	maxTopics    = 64
	// maxCatchingUp bounds the pages of spans in memory.
	maxCatchingUp = 64
	// checkTimeout bounds a look at who a client is.
	checkTimeout = 5 * time.Second
)

// CloseSignedOut is the close code for clients whose session or token has ended: to
// come back is of no use before somebody signs in.
const CloseSignedOut = 4401

// RunView turns a stored run into what the API shows of it.
type RunView func(ctx context.Context, accountID, runID string) (any, error)

// Check finds out whether somebody is still who they were; [models.ErrNotFound] if
// their session or token has ended.
type Check func(ctx context.Context, p auth.Principal) error

// Server serves the websocket.
type Server struct {
	db    *models.DB
	hub   *trace.Hub
	view  RunView
	check Check
	log   *slog.Logger
	up    websocket.Upgrader

	catching places
	pings    time.Duration  // between two to a client
	working  sync.WaitGroup // rooms

	mu      sync.Mutex // taken before a room's
	clients map[*client]bool
	rooms   map[string]*room
	closed  bool
}

// New returns a server.
func New(db *models.DB, hub *trace.Hub, view RunView, check Check, log *slog.Logger) *Server {
	return &Server{
		db: db, hub: hub, view: view, check: check, log: log, catching: make(places, maxCatchingUp), pings: pingEvery,
		clients: map[*client]bool{}, rooms: map[string]*room{},
		up: websocket.Upgrader{CheckOrigin: sameOrigin, ReadBufferSize: 4 << 10, WriteBufferSize: 32 << 10, WriteBufferPool: &sync.Pool{}, EnableCompression: true},
	}
}

// sameOrigin refuses pages of other sites. Programs send no Origin.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || auth.Bearer(r) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host
}

// Clients counts the open connections.
func (s *Server) Clients() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.clients)
}

// SignedOut closes the connections that came with a session or token that has ended;
// see [auth.Principal.Credential].
func (s *Server) SignedOut(credential string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		if c.who.Credential() == credential {
			c.signedOut()
		}
	}
}

// Close tells every client to come back later, and refuses new ones.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	clients := make([]*client, 0, len(s.clients))
	for c := range s.clients {
		clients = append(clients, c)
	}
	s.mu.Unlock()
	for _, c := range clients {
		c.end(websocket.CloseServiceRestart, "the server restarts")
	}
	// All are told before any is waited for: one that does not read takes as long as
	// a write may.
	for _, c := range clients {
		<-c.gone
	}
	s.working.Wait()
}

// ServeHTTP upgrades a request of somebody who is signed in.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, ok := auth.From(r.Context())
	if !ok {
		http.Error(w, "Sign in first.", http.StatusUnauthorized)
		return
	}
	conn, err := s.up.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	c := &client{
		server: s, conn: conn, who: p, cancel: cancel, gone: make(chan struct{}),
		topics: map[string]*member{}, wake: make(chan struct{}, 1),
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		cancel()
		_ = conn.Close() // nobody is left to tell
		return
	}
	s.clients[c] = true
	s.mu.Unlock()
	c.serve(ctx)
	s.mu.Lock()
	delete(s.clients, c)
	s.mu.Unlock()
	close(c.gone)
}
