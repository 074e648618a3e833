package trace

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"sluice/engine"
)

// Event is what a subscriber of the hub gets: exactly one field beside RunID is set.
type Event struct {
	RunID string
	Spans []*Item
	Delta *Delta
	Inbox *Inbox
	// Run tells that the run itself has changed.
	Run bool
	// Lost tells that anything may have changed: news from other servers was missed.
	Lost bool
}

// Delta is streamed text of a running attempt.
type Delta struct {
	SpanID string
	Text   string
}

// Inbox tells that the account's open approvals have changed.
type Inbox struct {
	Type       string // opened, decided, closed; changed on another server, without ids
	ApprovalID string
	RunID      string
}

// Bounds of the hub.
const (
	// buffer is how many events a subscriber may lag behind.
	buffer = 16_384
	// tailSpans are the spans of a run after which those that are stored are
	// forgotten, mostSpans those kept even if none is, tailAge how long after the
	// run's last event, tailRuns of how many runs.
	tailSpans = 1_000
	mostSpans = 64_000
	tailAge   = time.Minute
	tailRuns  = 2_000
)

// Hub hands events to subscribers in this process. A subscriber that does not keep
// up is marked as overflowed and gets nothing more: it must start over.
//
// The hub remembers each active run's spans until they are stored, which happens
// behind the engine: a reader who takes these first and the stored ones then misses
// nothing.
type Hub struct {
	mu     sync.Mutex
	topics map[string]map[*Subscription]bool
	tails  map[string]*tail
}

type tail struct {
	spans   map[string]*Item
	limit   int // of spans before it is tidied
	touched time.Time
}

// NewHub returns an empty hub.
func NewHub() *Hub {
	return &Hub{topics: map[string]map[*Subscription]bool{}, tails: map[string]*tail{}}
}

// What one can subscribe to.
const (
	runPrefix   = "run:"
	inboxPrefix = "inbox:"
)

// RunTopic is the topic of a run.
func RunTopic(runID string) string { return runPrefix + runID }

// InboxTopic is the topic of an account's approvals.
func InboxTopic(accountID string) string { return inboxPrefix + accountID }

// Subscription is one reader of one topic.
type Subscription struct {
	hub      *Hub
	topic    string
	wake     chan struct{}
	overflow chan struct{}

	// Guarded by the hub's mu.
	events []Event
	over   bool
}

// Subscribe opens a subscription. Close it.
func (h *Hub) Subscribe(topic string) *Subscription {
	s := &Subscription{hub: h, topic: topic, wake: make(chan struct{}, 1), overflow: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics[topic] == nil {
		h.topics[topic] = map[*Subscription]bool{}
	}
	h.topics[topic][s] = true
	return s
}

// Wake tells that there are events to take.
func (s *Subscription) Wake() <-chan struct{} { return s.wake }

// Take returns the events that have come since the last time.
func (s *Subscription) Take() []Event {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	out := s.events
	s.events = nil
	return out
}

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

// Recent are the run's spans after a sequence number that may not be stored yet, in
// its order.
func (h *Hub) Recent(runID string, after int64) []*Item {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tails[runID]
	if t == nil {
		return nil
	}
	var out []*Item
	for _, it := range t.spans {
		if it.Span.Seq > after && !it.stored.Load() {
			out = append(out, it)
		}
	}
	SortItems(out)
	return out
}

// SortItems puts items into their run's order.
func SortItems(items []*Item) {
	slices.SortFunc(items, func(a, b *Item) int { return cmp.Compare(a.Span.Seq, b.Span.Seq) })
}

// publish hands spans to the subscribers of their run and, where they tell of
// approvals, to the account's inbox.
func (h *Hub) publish(accountID string, items []*Item) {
	if len(items) == 0 {
		return
	}
	runID := items[0].Span.RunID
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remember(runID, items)
	h.send(RunTopic(runID), Event{RunID: runID, Spans: items})
	for _, it := range items {
		if in := inboxOf(it.Span); in != nil {
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
		if len(s.events) >= buffer {
			if !s.over {
				s.over = true
				close(s.overflow)
			}
			s.remove()
			continue
		}
		s.events = append(s.events, e)
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// remember keeps spans of a run. The caller holds mu.
func (h *Hub) remember(runID string, items []*Item) {
	now := time.Now()
	t := h.tails[runID]
	if t == nil {
		h.forget(now)
		t = &tail{spans: map[string]*Item{}, limit: tailSpans}
		h.tails[runID] = t
	}
	t.touched = now
	for _, it := range items {
		if old, ok := t.spans[it.Span.ID]; !ok || old.Span.Seq < it.Span.Seq {
			t.spans[it.Span.ID] = it
		}
	}
	if len(t.spans) > t.limit {
		t.shrink()
	}
}

// shrink drops what is stored, and the older half where that is not enough. The next
// time is when there are twice as many as are left.
func (t *tail) shrink() {
	for id, it := range t.spans {
		if it.stored.Load() {
			delete(t.spans, id)
		}
	}
	if len(t.spans) > mostSpans {
		seqs := make([]int64, 0, len(t.spans))
		for _, it := range t.spans {
			seqs = append(seqs, it.Span.Seq)
		}
		slices.Sort(seqs)
		middle := seqs[len(seqs)/2]
		for id, it := range t.spans {
			if it.Span.Seq < middle {
				delete(t.spans, id)
			}
		}
	}
	t.limit = max(tailSpans, min(2*len(t.spans), mostSpans))
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
