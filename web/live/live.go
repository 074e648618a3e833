// Package live is the websocket: run traces as they grow, and the inbox's count.
//
// A client subscribes to topics ("run:<id>", "inbox") and says which sequence
// number it has seen. The server subscribes to the hub first, then reads what is
// stored, then sends what is new: no span falls between. A client that does not
// keep up is told to resync; the engine never waits for one.
package live

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"sluice/engine"
	"sluice/engine/trace"
	"sluice/models"
	"sluice/web/auth"
)

// Times and sizes of a connection.
const (
	frameEvery   = 50 * time.Millisecond
	writeTimeout = 10 * time.Second
	pongTimeout  = 60 * time.Second
	pingEvery    = 25 * time.Second
	maxMessage   = 16 << 10
	maxTopics    = 64
)

// RunView turns a stored run into what the API shows of it.
type RunView func(ctx context.Context, accountID, runID string) (any, error)

// Server serves the websocket.
type Server struct {
	db   *models.DB
	hub  *trace.Hub
	view RunView
	log  *slog.Logger
	up   websocket.Upgrader

	mu      sync.Mutex
	clients map[*client]bool
	closed  bool
}

// New returns a server.
func New(db *models.DB, hub *trace.Hub, view RunView, log *slog.Logger) *Server {
	return &Server{
		db: db, hub: hub, view: view, log: log, clients: map[*client]bool{},
		up: websocket.Upgrader{CheckOrigin: sameOrigin, ReadBufferSize: 4 << 10, WriteBufferSize: 32 << 10, EnableCompression: true},
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
		topics: map[string]*topic{}, wake: make(chan struct{}, 1),
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

// request is a client's message.
type request struct {
	Type  string `json:"type"`
	Topic string `json:"topic"`
	After int64  `json:"after"`
}

// reply is a server's message. Fields that its type does not have are left out.
type reply struct {
	Type    string        `json:"type"`
	Topic   string        `json:"topic,omitempty"`
	Seq     *int64        `json:"seq,omitempty"`
	Run     any           `json:"run,omitempty"`
	Spans   []engine.Span `json:"spans,omitempty"`
	SpanID  string        `json:"span_id,omitempty"`
	Text    string        `json:"text,omitempty"`
	Pending *int64        `json:"pending,omitempty"`
	Event   *inboxEvent   `json:"event,omitempty"`
	Code    string        `json:"code,omitempty"`
	Message string        `json:"message,omitempty"`
}

type inboxEvent struct {
	Type       string `json:"type"` // opened, decided, closed
	ApprovalID string `json:"approval_id"`
	RunID      string `json:"run_id"`
}

// client is one connection. Its reader takes requests; its writer alone writes.
type client struct {
	server *Server
	conn   *websocket.Conn
	who    auth.Principal
	cancel context.CancelFunc
	gone   chan struct{}

	mu      sync.Mutex
	topics  map[string]*topic
	queue   []reply // replies to requests
	closing *closeFrame
	wake    chan struct{}
}

type closeFrame struct {
	code   int
	reason string
}

func (c *client) end(code int, reason string) {
	c.mu.Lock()
	c.closing = &closeFrame{code, reason}
	c.mu.Unlock()
	c.nudge()
}

func (c *client) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *client) serve(ctx context.Context) {
	defer c.cancel()
	var writer sync.WaitGroup
	writer.Go(func() { c.write(ctx) })
	c.read(ctx)
	c.cancel()
	writer.Wait()
	c.mu.Lock()
	for _, t := range c.topics {
		t.close()
	}
	c.mu.Unlock()
}

func (c *client) read(ctx context.Context) {
	c.conn.SetReadLimit(maxMessage)
	extend := func() error { return c.conn.SetReadDeadline(time.Now().Add(pongTimeout)) }
	if extend() != nil {
		return
	}
	c.conn.SetPongHandler(func(string) error { return extend() })
	for {
		_, data, err := c.conn.ReadMessage()
		if err != nil || extend() != nil {
			return
		}
		var r request
		if err := json.Unmarshal(data, &r); err != nil {
			c.say(reply{Type: "error", Code: "bad_request", Message: "a message is a JSON object with a type"})
			continue
		}
		c.handle(ctx, r)
	}
}

func (c *client) say(r reply) {
	c.mu.Lock()
	c.queue = append(c.queue, r)
	tooMany := len(c.queue) > 1_000
	c.mu.Unlock()
	if tooMany {
		c.cancel() // it asks and does not read
	}
	c.nudge()
}

func (c *client) handle(ctx context.Context, r request) {
	switch r.Type {
	case "ping":
		c.say(reply{Type: "pong"})
	case "subscribe":
		c.subscribe(ctx, r)
	case "unsubscribe":
		c.mu.Lock()
		if t := c.topics[r.Topic]; t != nil {
			t.close()
			delete(c.topics, r.Topic)
		}
		c.mu.Unlock()
	default:
		c.say(reply{Type: "error", Topic: r.Topic, Code: "bad_request", Message: "the type must be subscribe, unsubscribe or ping"})
	}
}

// subscribe opens a topic that the person may read. Foreign and unknown runs get
// the same answer.
func (c *client) subscribe(ctx context.Context, r request) {
	t, err := c.server.open(ctx, c.who, r)
	switch {
	case errors.Is(err, models.ErrNotFound):
		c.say(reply{Type: "error", Topic: r.Topic, Code: "not_found", Message: "there is no such topic"})
		return
	case err != nil:
		c.server.log.Warn("subscribe failed", "topic", r.Topic, "err", err)
		c.say(reply{Type: "error", Topic: r.Topic, Code: "unavailable", Message: "the topic can't be read now"})
		return
	}
	c.mu.Lock()
	if old := c.topics[r.Topic]; old != nil {
		old.close()
	}
	full := len(c.topics) >= maxTopics && c.topics[r.Topic] == nil
	if !full {
		c.topics[r.Topic] = t
	}
	c.mu.Unlock()
	if full {
		t.close()
		c.say(reply{Type: "error", Topic: r.Topic, Code: "bad_request", Message: "too many topics"})
		return
	}
	go t.pump(c.nudge)
	c.nudge()
}

// write sends what has come up, at most every frameEvery.
func (c *client) write(ctx context.Context) {
	defer c.conn.Close()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ping.C:
			if c.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeTimeout)) != nil {
				c.cancel()
				return
			}
		case <-c.wake:
			if !c.flush(ctx) {
				c.cancel()
				return
			}
			pause := time.NewTimer(frameEvery)
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
			pause.Stop()
		}
	}
}

// flush writes every pending reply; false ends the connection.
func (c *client) flush(ctx context.Context) bool {
	c.mu.Lock()
	out := c.queue
	c.queue = nil
	closing := c.closing
	topics := make([]*topic, 0, len(c.topics))
	for _, t := range c.topics {
		topics = append(topics, t)
	}
	c.mu.Unlock()
	for _, t := range topics {
		out = append(out, t.take(ctx)...)
	}
	for i := range out {
		if c.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) != nil || c.conn.WriteJSON(&out[i]) != nil {
			return false
		}
	}
	if closing == nil {
		return true
	}
	message := websocket.FormatCloseMessage(closing.code, closing.reason)
	_ = c.conn.WriteControl(websocket.CloseMessage, message, time.Now().Add(writeTimeout)) // it ends either way
	return false
}
