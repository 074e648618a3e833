package live

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"sync"

	"sluice/engine"
	"sluice/engine/trace"
	"sluice/models"
	"sluice/web/auth"
)

// topic is one subscription of one client. pump collects events, take hands them
// to the writer.
type topic struct {
	server *Server
	who    auth.Principal
	name   string
	runID  string // empty for the inbox
	sub    *trace.Subscription
	stop   chan struct{}
	once   sync.Once

	mu    sync.Mutex
	first []reply // snapshot, spans so far, caught_up
	seen  int64
	// sent are the versions of spans that the client has: an answer's span may come
	// after one with a higher number, so numbers alone don't tell what is new.
	sent    map[string]int64
	spans   map[string]engine.Span
	deltas  map[string]*strings.Builder
	order   []string // of deltas
	runNews bool
	inbox   *inboxEvent
	count   bool
	resync  bool
}

// open subscribes, then reads what is stored.
func (s *Server) open(ctx context.Context, who auth.Principal, r request) (*topic, error) {
	t := &topic{server: s, who: who, name: r.Topic, stop: make(chan struct{}), sent: map[string]int64{}, spans: map[string]engine.Span{}, deltas: map[string]*strings.Builder{}}
	if r.Topic == "inbox" {
		t.sub = s.hub.Subscribe(trace.InboxTopic(who.AccountID))
		t.count = true
		return t, nil
	}
	id, ok := strings.CutPrefix(r.Topic, "run:")
	if !ok {
		return nil, models.ErrNotFound
	}
	if _, err := s.db.Run(ctx, who.AccountID, id); err != nil {
		return nil, err
	}
	t.runID = id
	t.sub = s.hub.Subscribe(trace.RunTopic(id))
	if err := t.catchUp(ctx, r.After); err != nil {
		t.sub.Close()
		return nil, err
	}
	return t, nil
}

// overlap is how far before its number a client that comes back starts again: a
// span may be published after one with a higher number. Spans that it has are sent
// again, and replace themselves.
const overlap = 256

// catchUp reads the run and its spans after a sequence number: the stored ones,
// and the recent ones that may not be stored yet.
func (t *topic) catchUp(ctx context.Context, after int64) error {
	if after < 0 {
		after = 0
	}
	spans, err := Spans(ctx, t.server.db, t.server.hub, t.who.AccountID, t.runID, max(0, after-overlap))
	if err != nil {
		return err
	}
	// The run after its spans: a status is stored before its span is published, so
	// the run is at least as new as they are. The other way round, a change between
	// the two reads would count as sent though the client has the run before it.
	run, err := t.server.view(ctx, t.who.AccountID, t.runID)
	if err != nil {
		return err
	}
	for _, s := range spans {
		t.sent[s.ID] = s.Seq
	}
	t.seen = after
	if n := len(spans); n > 0 {
		t.seen = max(t.seen, spans[n-1].Seq)
	}
	seq := t.seen
	kind := "snapshot"
	if after > 0 {
		kind = "spans"
		t.first = append(t.first, reply{Type: "run", Topic: t.name, Run: run})
		run = nil
	}
	t.first = append(t.first, reply{Type: kind, Topic: t.name, Seq: &seq, Run: run, Spans: spans}, reply{Type: "caught_up", Topic: t.name, Seq: &seq})
	return nil
}

// Spans are a run's spans that changed after a sequence number, in its order: the
// stored ones joined with the recent ones of this process.
func Spans(ctx context.Context, db *models.DB, hub *trace.Hub, accountID, runID string, after int64) ([]engine.Span, error) {
	// The hub first: what it forgets meanwhile has been stored before.
	recent := hub.Recent(runID, after)
	rows, err := db.Spans(ctx, accountID, runID, after)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]engine.Span, len(rows)+len(recent))
	for _, row := range rows {
		var s engine.Span
		if err := json.Unmarshal([]byte(row.Body), &s); err != nil {
			return nil, fmt.Errorf("read span %s of %s: %w", row.ID, runID, err)
		}
		s.Seq = row.Seq
		byID[s.ID] = s
	}
	for _, s := range recent {
		if old, ok := byID[s.ID]; !ok || old.Seq < s.Seq {
			byID[s.ID] = s
		}
	}
	out := make([]engine.Span, 0, len(byID))
	for _, s := range byID {
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Seq < out[j].Seq })
	return out, nil
}

func (t *topic) close() {
	t.once.Do(func() {
		close(t.stop)
		t.sub.Close()
	})
}

// pump takes events from the hub so that its buffer stays empty; several versions
// of a span between two frames become one.
func (t *topic) pump(nudge func()) {
	for {
		select {
		case <-t.stop:
			return
		case <-t.sub.Overflowed():
			t.mu.Lock()
			t.resync = true
			t.mu.Unlock()
			nudge()
			return
		case e := <-t.sub.Events():
			t.add(e)
			nudge()
		}
	}
}

// maxPending bounds the spans and streamed bytes that wait for a slow client.
const (
	maxPending     = 5_000
	maxPendingText = 1 << 20
)

func (t *topic) add(e trace.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case e.Inbox != nil:
		t.inbox, t.count = &inboxEvent{Type: e.Inbox.Type, ApprovalID: e.Inbox.ApprovalID, RunID: e.Inbox.RunID}, true
	case e.Delta != nil:
		t.addDelta(e.Delta)
	default:
		for _, s := range e.Spans {
			if t.sent[s.ID] >= s.Seq {
				continue
			}
			if old, ok := t.spans[s.ID]; !ok || old.Seq < s.Seq {
				t.spans[s.ID] = s
			}
			t.runNews = t.runNews || s.Kind == engine.SpanRun
		}
	}
	if len(t.spans) > maxPending {
		t.resync = true
		clear(t.spans)
	}
}

func (t *topic) addDelta(d *trace.Delta) {
	b := t.deltas[d.SpanID]
	if b == nil {
		b = &strings.Builder{}
		t.deltas[d.SpanID] = b
		t.order = append(t.order, d.SpanID)
	}
	if b.Len()+len(d.Text) < maxPendingText {
		b.WriteString(d.Text)
	}
}

// take returns the messages that are due.
func (t *topic) take(ctx context.Context) []reply {
	t.mu.Lock()
	out := t.first
	t.first = nil
	if t.resync {
		t.resync = false
		t.mu.Unlock()
		t.close()
		return append(out, reply{Type: "resync", Topic: t.name})
	}
	for _, id := range t.order {
		out = append(out, reply{Type: "delta", Topic: t.name, SpanID: id, Text: t.deltas[id].String()})
	}
	clear(t.deltas)
	t.order = nil
	if len(t.spans) > 0 {
		out = append(out, t.spanReply())
	}
	runNews, inbox, count := t.runNews, t.inbox, t.count
	t.runNews, t.inbox, t.count = false, nil, false
	t.mu.Unlock()
	if runNews {
		if run, err := t.server.view(ctx, t.who.AccountID, t.runID); err == nil {
			out = append(out, reply{Type: "run", Topic: t.name, Run: run})
		}
	}
	if count {
		if n, err := t.server.db.PendingApprovals(ctx, t.who.AccountID); err == nil {
			out = append(out, reply{Type: "inbox", Topic: t.name, Pending: &n, Event: inbox})
		}
	}
	return out
}

// spanReply hands out the collected spans. The caller holds mu.
func (t *topic) spanReply() reply {
	spans := make([]engine.Span, 0, len(t.spans))
	for _, s := range t.spans {
		spans = append(spans, s)
		t.sent[s.ID] = s.Seq
	}
	clear(t.spans)
	sort.Slice(spans, func(i, j int) bool { return spans[i].Seq < spans[j].Seq })
	t.seen = max(t.seen, spans[len(spans)-1].Seq)
	seq := t.seen
	return reply{Type: "spans", Topic: t.name, Seq: &seq, Spans: spans}
}
