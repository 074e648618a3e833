package live

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/engine"
	"sluice/engine/trace"
	"sluice/models"
)

// room is a topic with its members: the clients that watch it. Its goroutine takes
// events from the hub, makes one frame of what has come up, at most every frameEvery,
// and keeps the last frames. Each member's writer takes them at its own pace; what a
// slow one has missed it reads from the database. So a client costs a few numbers,
// and nobody waits for it.
type room struct {
	server    *Server
	key       string // the hub's topic
	name      string // as clients name it
	accountID string
	runID     string // empty for the inbox
	sub       *trace.Subscription
	cancel    context.CancelFunc

	mu      sync.Mutex
	members map[*member]bool
	frames  []*frame // the last ones
	first   int64    // number of frames[0]
	size    int      // of frames, in bytes

	pending pending // the goroutine's own
}

// pending is what has come up since the last frame.
type pending struct {
	spans   map[string]*trace.Item
	deltas  map[string]*strings.Builder
	order   []string // of deltas
	runNews bool
	inbox   *inboxEvent
}

// Bounds of a room.
const (
	maxFrames     = 256
	maxFrameBytes = 4 << 20
	// maxText bounds the streamed text of an attempt in one frame.
	maxText = 1 << 20
	// frameSpans and frameBytes bound a message of spans; the last may go beyond.
	frameSpans = 1_000
	frameBytes = 1 << 20
)

func newRoom(s *Server, key, name, accountID, runID string) *room {
	ctx, cancel := context.WithCancel(context.Background())
	r := &room{
		server: s, key: key, name: name, accountID: accountID, runID: runID, sub: s.hub.Subscribe(key), cancel: cancel,
		members: map[*member]bool{}, pending: pending{spans: map[string]*trace.Item{}, deltas: map[string]*strings.Builder{}},
	}
	s.working.Go(func() { r.run(ctx) })
	return r
}

// run makes frames until the room is empty.
func (r *room) run(ctx context.Context) {
	defer func() { r.sub.Close() }()
	pause := time.NewTimer(0)
	defer pause.Stop()
	paused := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.sub.Overflowed():
			r.sub.Close()
			r.sub = r.server.hub.Subscribe(r.key)
			r.lost()
		case <-r.sub.Wake():
			for _, e := range r.sub.Take() {
				r.add(e)
			}
		case <-pause.C:
			paused = false
		}
		if !paused && r.pending.any() {
			r.flush(ctx)
			pause.Reset(frameEvery)
			paused = true
		}
	}
}

func (p *pending) any() bool {
	return len(p.spans) > 0 || len(p.order) > 0 || p.runNews || p.inbox != nil
}

func (r *room) add(e trace.Event) {
	p := &r.pending
	switch {
	case e.Lost:
		r.lost()
	case e.Run:
		p.runNews = true
	case e.Inbox != nil:
		p.inbox = &inboxEvent{Type: e.Inbox.Type, ApprovalID: e.Inbox.ApprovalID, RunID: e.Inbox.RunID}
	case e.Delta != nil:
		b := p.deltas[e.Delta.SpanID]
		if b == nil {
			b = &strings.Builder{}
			p.deltas[e.Delta.SpanID] = b
			p.order = append(p.order, e.Delta.SpanID)
		}
		if b.Len()+len(e.Delta.Text) < maxText {
			b.WriteString(e.Delta.Text)
		}
	default:
		for _, it := range e.Spans {
			if old, ok := p.spans[it.Span.ID]; !ok || old.Span.Seq < it.Span.Seq {
				p.spans[it.Span.ID] = it
			}
			p.runNews = p.runNews || it.Span.Kind == engine.SpanRun
		}
	}
}

// flush makes a frame of what is pending.
func (r *room) flush(ctx context.Context) {
	p := &r.pending
	f := &frame{low: noSpan}
	var errs []error
	for _, id := range p.order {
		errs = append(errs, f.say(reply{Type: "delta", Topic: r.name, SpanID: id, Text: p.deltas[id].String()}))
	}
	clear(p.deltas)
	p.order = nil
	errs = append(errs, r.addSpans(f))
	if p.runNews {
		p.runNews = false
		errs = append(errs, r.addRun(ctx, f))
	}
	if p.inbox != nil {
		event := p.inbox
		p.inbox = nil
		n, err := r.server.db.PendingApprovals(ctx, r.accountID)
		if err == nil {
			err = f.say(reply{Type: "inbox", Topic: r.name, Pending: &n, Event: event})
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil && ctx.Err() == nil {
		r.server.log.Warn("live frame", "topic", r.key, "err", err)
		defer r.lost() // who reads it again may have more luck
	}
	r.publish(f)
}

func (r *room) addSpans(f *frame) error {
	p := &r.pending
	if len(p.spans) == 0 {
		return nil
	}
	items := make([]*trace.Item, 0, len(p.spans))
	for _, it := range p.spans {
		items = append(items, it)
	}
	clear(p.spans)
	trace.SortItems(items)
	f.low = items[0].Span.Seq
	for len(items) > 0 {
		n, size := 0, 0
		for n < len(items) && n < frameSpans && size < frameBytes {
			size += len(items[n].JSON())
			n++
		}
		seq := items[n-1].Span.Seq
		data, err := spansMessage(reply{Type: "spans", Topic: r.name, Seq: &seq}, items[:n])
		if err != nil {
			return err
		}
		if err := f.add(data); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}

func (r *room) addRun(ctx context.Context, f *frame) error {
	run, err := r.server.view(ctx, r.accountID, r.runID)
	if errors.Is(err, models.ErrNotFound) {
		return nil // it is gone, and there is nothing to show of it
	}
	if err != nil {
		return err
	}
	return f.say(reply{Type: "run", Topic: r.name, Run: run})
}

// publish keeps a frame for the members. What is dropped for it those who have not
// sent it will read.
func (r *room) publish(f *frame) {
	if len(f.messages) == 0 {
		return
	}
	defer r.nudgeAll()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frames = append(r.frames, f)
	r.size += f.size
	for len(r.frames) > maxFrames || (r.size > maxFrameBytes && len(r.frames) > 1) {
		old := r.frames[0]
		r.frames[0] = nil
		r.frames = r.frames[1:]
		r.size -= old.size
		for m := range r.members {
			if m.next <= r.first {
				m.next = r.first + 1
				m.miss(old.low)
			}
		}
		r.first++
	}
}

// lost makes every member read again what there is.
func (r *room) lost() {
	defer r.nudgeAll()
	r.mu.Lock()
	defer r.mu.Unlock()
	for m := range r.members {
		m.miss(0)
	}
}

// nudgeTurn is how many members are woken before others get a turn.
const nudgeTurn = 32

// nudgeAll wakes the members' writers. A thousand at once would keep the engine, on
// the same processors, waiting until the last has sent.
func (r *room) nudgeAll() {
	r.mu.Lock()
	members := slices.Collect(maps.Keys(r.members))
	r.mu.Unlock()
	for i, m := range members {
		if i%nudgeTurn == nudgeTurn-1 {
			runtime.Gosched()
		}
		m.nudge()
	}
}

// enter makes a client a member of a topic's room: of all that comes up from now on
// it misses nothing.
func (s *Server) enter(key, name, accountID, runID string, m *member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[key]
	if r == nil {
		r = newRoom(s, key, name, accountID, runID)
		s.rooms[key] = r
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	m.room, m.next = r, r.first+int64(len(r.frames))
	r.members[m] = true
}

// leave ends a membership, and the room with the last. Safe to call twice.
func (s *Server) leave(m *member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := m.room
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.members, m)
	if len(r.members) == 0 && s.rooms[r.key] == r {
		delete(s.rooms, r.key)
		r.cancel()
	}
}
