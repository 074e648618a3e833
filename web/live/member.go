package live

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gorilla/websocket"

	"sluice/engine/trace"
	"sluice/models"
	"sluice/web/auth"
)

// member is a client in a room. It catches up from the database, page by page as its
// connection takes them, and then takes the room's frames.
type member struct {
	server *Server
	room   *room
	nudge  func()

	// Guarded by the room's mu.
	next   int64 // number of the frame that is due
	missed bool  // frames were dropped before they were sent
	low    int64 // lowest number of the spans in those

	// The writer's own.
	catching *catchUp
}

// catchUp is how far a member has come with what is stored.
type catchUp struct {
	after   int64
	seq     int64 // that the client is told
	started bool
	// snapshot begins with one: the client is to forget what is not in it.
	snapshot bool
}

// miss notes that spans from a number on must be read. The caller holds the room's mu.
func (m *member) miss(low int64) {
	if !m.missed {
		m.missed, m.low = true, noSpan
	}
	m.low = min(m.low, low)
}

// overlap is how far before its number a client that comes back starts again: a
// span may be published after one with a higher number. Spans that it has are sent
// again, and replace themselves.
const overlap = 256

// open makes a client a member of a topic that the person may read.
func (s *Server) open(ctx context.Context, who auth.Principal, q request, nudge func()) (*member, error) {
	after := max(0, q.After)
	m := &member{server: s, nudge: nudge, catching: &catchUp{after: max(0, after-overlap), seq: after, snapshot: after == 0}}
	if q.Topic == "inbox" {
		s.enter(trace.InboxTopic(who.AccountID), q.Topic, who.AccountID, "", m)
		return m, nil
	}
	id, ok := strings.CutPrefix(q.Topic, "run:")
	if !ok {
		return nil, models.ErrNotFound
	}
	if _, err := s.db.Run(ctx, who.AccountID, id); err != nil {
		return nil, err
	}
	s.enter(trace.RunTopic(id), q.Topic, who.AccountID, id, m)
	return m, nil
}

func (m *member) close() { m.server.leave(m) }

// maxTurn bounds the frames that a member sends before it is another one's turn.
const maxTurn = 16

// step sends what is due next; more tells that there is more.
func (m *member) step(ctx context.Context, conn *websocket.Conn) (more bool, err error) {
	if m.catching == nil {
		var frames []*frame
		if frames, more = m.due(); m.catching == nil {
			return more, sendFrames(conn, frames)
		}
	}
	if m.room.runID == "" {
		return true, m.count(ctx, conn)
	}
	return true, m.page(ctx, conn)
}

// due takes the frames that are next, or begins to catch up if some are gone.
func (m *member) due() (frames []*frame, more bool) {
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.missed {
		m.missed = false
		m.next = r.first + int64(len(r.frames))
		m.catching = &catchUp{after: m.low}
		if m.low > 0 && m.low != noSpan {
			m.catching.after = m.low - 1
		}
		return nil, true
	}
	waiting := r.frames[m.next-r.first:]
	frames = append(frames, waiting[:min(len(waiting), maxTurn)]...)
	m.next += int64(len(frames))
	return frames, len(frames) < len(waiting)
}

func sendFrames(conn *websocket.Conn, frames []*frame) error {
	for _, f := range frames {
		for _, message := range f.messages {
			if err := deadline(conn, f.size); err != nil {
				return err
			}
			if err := conn.WritePreparedMessage(message); err != nil {
				return fmt.Errorf("send: %w", err)
			}
		}
	}
	return nil
}

// page sends one page of spans, the first with the run; caught_up follows the last.
func (m *member) page(ctx context.Context, conn *websocket.Conn) error {
	// The place is held until the client has taken the page: so many pages are in
	// memory at once, however many clients are slow.
	if err := m.server.catching.take(ctx); err != nil {
		return err
	}
	defer m.server.catching.free()
	c, r := m.catching, m.room
	items, more, err := Page(ctx, m.server.db, m.server.hub, r.accountID, r.runID, c.after, frameSpans)
	if err != nil {
		return storeError{err}
	}
	if n := len(items); n > 0 {
		c.after = items[n-1].Span.Seq
		c.seq = max(c.seq, c.after)
	}
	if err := m.sendPage(ctx, conn, items); err != nil || more {
		return err
	}
	m.catching = nil
	return send(conn, reply{Type: "caught_up", Topic: r.name, Seq: &c.seq})
}

func (m *member) sendPage(ctx context.Context, conn *websocket.Conn, items []*trace.Item) error {
	c, r := m.catching, m.room
	head := reply{Type: "spans", Topic: r.name, Seq: &c.seq}
	if !c.started {
		c.started = true
		// Whatever changes after this comes with a frame: the member is in its room.
		run, err := m.server.view(ctx, r.accountID, r.runID)
		if err != nil {
			return storeError{err}
		}
		if c.snapshot {
			head.Type, head.Run = "snapshot", run
		} else if err := send(conn, reply{Type: "run", Topic: r.name, Run: run}); err != nil {
			return err
		}
	}
	data, err := spansMessage(head, items)
	if err != nil {
		return err
	}
	return sendRaw(conn, data)
}

// count sends the number of open approvals.
func (m *member) count(ctx context.Context, conn *websocket.Conn) error {
	n, err := m.server.db.PendingApprovals(ctx, m.room.accountID)
	if err != nil {
		return storeError{err}
	}
	var event *inboxEvent
	if !m.catching.snapshot {
		event = &inboxEvent{Type: "changed"}
	}
	m.catching = nil
	return send(conn, reply{Type: "inbox", Topic: m.room.name, Pending: &n, Event: event})
}

// storeError is a failure of the database, not of the connection.
type storeError struct{ err error }

func (e storeError) Error() string { return "catch up: " + e.err.Error() }
func (e storeError) Unwrap() error { return e.err }

func send(conn *websocket.Conn, r reply) error {
	data, err := json.Marshal(&r)
	if err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return sendRaw(conn, data)
}

func sendRaw(conn *websocket.Conn, data []byte) error {
	if err := deadline(conn, len(data)); err != nil {
		return err
	}
	if err := conn.WriteMessage(websocket.TextMessage, data); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// places bounds how many do something at once.
type places chan struct{}

func (p places) take(ctx context.Context) error {
	select {
	case p <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p places) free() { <-p }
