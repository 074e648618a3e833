package trace

import "strings"

// What follows is how news of other servers comes in: whoever hears of a change
// reads the database and hands on what is there.

// RunWatched reports whether the run has a subscriber.
func (h *Hub) RunWatched(runID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.topics[RunTopic(runID)]) > 0
}

// Load hands spans that were read from the database to the subscribers of their run.
func (h *Hub) Load(runID string, items []*Item) {
	h.tell(RunTopic(runID), Event{RunID: runID, Spans: items})
}

// RunChanged tells the run's subscribers that the run itself has changed.
func (h *Hub) RunChanged(runID string) {
	h.tell(RunTopic(runID), Event{RunID: runID, Run: true})
}

// RunLost tells the run's subscribers that anything of it may have changed.
func (h *Hub) RunLost(runID string) {
	h.tell(RunTopic(runID), Event{RunID: runID, Lost: true})
}

// InboxChanged tells the account's subscribers that its approvals have changed.
func (h *Hub) InboxChanged(accountID string) {
	h.tell(InboxTopic(accountID), Event{Inbox: &Inbox{Type: "changed"}})
}

// Lost tells every subscriber that anything may have changed.
func (h *Hub) Lost() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for topic := range h.topics {
		if strings.HasPrefix(topic, inboxPrefix) {
			h.send(topic, Event{Inbox: &Inbox{Type: "changed"}})
			continue
		}
		h.send(topic, Event{Lost: true})
	}
}

func (h *Hub) tell(topic string, e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.send(topic, e)
}
