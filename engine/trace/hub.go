package trace

import (
	"encoding/json"
	"slices"
	"sort"
	"sync"
	"time"

	"sluice/engine"
)

// Event is what a subscriber of the hub gets: exactly one of Spans, Delta and
// Inbox is set.
type Event struct {
	RunID string
	Spans []engine.Span
	Delta *Delta
	Inbox *Inbox
}

// Delta is streamed text of a running attempt.
type Delta struct {
	SpanID string
	Text   string
}

// Inbox tells that the account's open approvals have changed.
type Inbox struct {
	Type       string // opened, decided, closed
	ApprovalID string
	RunID      string
}

// Bounds of the hub.
const (
	// buffer is how many events a subscriber may lag behind.
	buffer = 1_024
	// tailSpans are the recent spans kept per run, tailAge how long after its last
	// event, tailRuns of how many runs.
	tailSpans = 4_000
	tailAge   = time.Minute
	tailRuns  = 2_000
)

// Hub hands events to subscribers in this process. A subscriber that does not keep
// up is marked as overflowed and gets nothing more: it must start over.
//
// The hub remembers each active run's recent spans. The stored tree is written
// behind the engine, so that a reader who takes both misses nothing.
type Hub struct {
	mu     sync.Mutex
	topics map[string]map[*Subscription]bool
	tails  map[string]*tail
}

type tail struct {
	spans   map[string]engine.Span
	touched time.Time
}

// NewHub returns an empty hub.
func NewHub() *Hub {
	return &Hub{topics: map[string]map[*Subscription]bool{}, tails: map[string]*tail{}}
}

// RunTopic and InboxTopic name what one can subscribe to.
func RunTopic(runID string) string { return "run:" + runID }

// InboxTopic is the topic of an account's approvals.
func InboxTopic(accountID string) string { return "inbox:" + accountID }

// Subscription is one reader of one topic.
type Subscription struct {
	hub      *Hub
	topic    string
	events   chan Event
	overflow chan struct{}
	over     bool
}

// Subscribe opens a subscription. Close it.
func (h *Hub) Subscribe(topic string) *Subscription {
	s := &Subscription{hub: h, topic: topic, events: make(chan Event, buffer), overflow: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics[topic] == nil {
		h.topics[topic] = map[*Subscription]bool{}
	}
	h.topics[topic][s] = true
	return s
}

// Events is where events arrive.
func (s *Subscription) Events() <-chan Event { return s.events }

// Overflowed is closed when the subscriber has lost events.
func (s *Subscription) Overflowed() <-chan struct{} { return s.overflow }

// Close ends the subscription. Safe to call twice.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.remove()
}

func (s *Subscription) remove() {
	delete(s.hub.topics[s.topic], s)
	if len(s.hub.topics[s.topic]) == 0 {
		delete(s.hub.topics, s.topic)
	}
}

// Subscribers counts the open subscriptions.
func (h *Hub) Subscribers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, t := range h.topics {
		n += len(t)
	}
	return n
}

// Recent are the run's recent spans after a sequence number, in its order.
func (h *Hub) Recent(runID string, after int64) []engine.Span {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tails[runID]
	if t == nil {
		return nil
	}
	out := make([]engine.Span, 0, len(t.spans))
	for _, s := range t.spans {
		if s.Seq > after {
			out = append(out, s)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Seq < out[j].Seq })
	return out
}

// publish hands spans to the subscribers of their run and, where they tell of
// approvals, to the account's inbox.
func (h *Hub) publish(accountID string, items []Item) {
	if len(items) == 0 {
		return
	}
	spans := make([]engine.Span, len(items))
	for i, it := range items {
		spans[i] = it.Span
	}
	runID := spans[0].RunID
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remember(runID, spans)
	h.send(RunTopic(runID), Event{RunID: runID, Spans: spans})
	for _, s := range spans {
		if in := inboxOf(s); in != nil {
			h.send(InboxTopic(accountID), Event{RunID: runID, Inbox: in})
		}
	}
}

// inboxOf reads what a span tells of a question to a person.
func inboxOf(s engine.Span) *Inbox {
	raw := s.Attributes["park_id"]
	if s.Kind != engine.SpanStep || raw == nil {
		return nil
	}
	in := &Inbox{RunID: s.RunID}
	if err := json.Unmarshal(raw, &in.ApprovalID); err != nil {
		return nil
	}
	var park struct {
		Kind engine.ParkKind `json:"kind"`
	}
	if raw := s.Attributes["park"]; raw != nil {
		if err := json.Unmarshal(raw, &park); err != nil {
			return nil
		}
	}
	asks := park.Kind == engine.ParkApproval || park.Kind == engine.ParkInterrupt
	switch {
	case s.Attributes["decision"] != nil:
		in.Type = "decided"
	case s.Status == string(engine.StepParked) && asks:
		in.Type = "opened"
	case s.Status != string(engine.StepParked) && s.NodeType != "wait":
		// Only the inbox knows whether the park asked a person; one recount too many
		// does no harm.
		in.Type = "closed"
	default:
		return nil
	}
	return in
}

func (h *Hub) delta(_, runID, spanID, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.send(RunTopic(runID), Event{RunID: runID, Delta: &Delta{SpanID: spanID, Text: text}})
}

// send never blocks. The caller holds mu.
func (h *Hub) send(topic string, e Event) {
	for s := range h.topics[topic] {
		select {
		case s.events <- e:
		default:
			if !s.over {
				s.over = true
				close(s.overflow)
			}
			s.remove()
		}
	}
}

// remember keeps the recent spans of a run. The caller holds mu.
func (h *Hub) remember(runID string, spans []engine.Span) {
	now := time.Now()
	t := h.tails[runID]
	if t == nil {
		h.forget(now)
		t = &tail{spans: map[string]engine.Span{}}
		h.tails[runID] = t
	}
	t.touched = now
	for _, s := range spans {
		if old, ok := t.spans[s.ID]; !ok || old.Seq < s.Seq {
			t.spans[s.ID] = s
		}
	}
	if len(t.spans) > tailSpans {
		t.shrink()
	}
}

// shrink drops the older half, which has been stored long ago.
func (t *tail) shrink() {
	seqs := make([]int64, 0, len(t.spans))
	for _, s := range t.spans {
		seqs = append(seqs, s.Seq)
	}
	slices.Sort(seqs)
	middle := seqs[len(seqs)/2]
	for id, s := range t.spans {
		if s.Seq < middle {
			delete(t.spans, id)
		}
	}
}

// forget drops runs that have been still for a while, or the stillest where there
// are too many. The caller holds mu.
func (h *Hub) forget(now time.Time) {
	var stillest string
	for id, t := range h.tails {
		if now.Sub(t.touched) > tailAge {
			delete(h.tails, id)
			continue
		}
		if stillest == "" || t.touched.Before(h.tails[stillest].touched) {
			stillest = id
		}
	}
	if len(h.tails) >= tailRuns {
		delete(h.tails, stillest)
	}
}
