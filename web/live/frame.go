package live

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/gorilla/websocket"

	"sluice/engine/trace"
)

// request is a client's message.
type request struct {
	Type  string `json:"type"`
	Topic string `json:"topic"`
	After int64  `json:"after"`
}

// reply is a server's message without spans. Fields that its type does not have are
// left out.
type reply struct {
	Type    string      `json:"type"`
	Topic   string      `json:"topic,omitempty"`
	Seq     *int64      `json:"seq,omitempty"`
	Run     any         `json:"run,omitempty"`
	SpanID  string      `json:"span_id,omitempty"`
	Text    string      `json:"text,omitempty"`
	Pending *int64      `json:"pending,omitempty"`
	Event   *inboxEvent `json:"event,omitempty"`
	Code    string      `json:"code,omitempty"`
	Message string      `json:"message,omitempty"`
}

type inboxEvent struct {
	// Type is opened, decided, closed, or, where only another server knows, changed.
	Type       string `json:"type"`
	ApprovalID string `json:"approval_id"`
	RunID      string `json:"run_id"`
}

// spansMessage is a snapshot or spans message: the reply's fields, and spans that
// are JSON already.
func spansMessage(r reply, items []*trace.Item) ([]byte, error) {
	head, err := json.Marshal(&r)
	if err != nil {
		return nil, fmt.Errorf("write message: %w", err)
	}
	size := len(head) + 16
	for _, it := range items {
		size += len(it.JSON()) + 1
	}
	out := append(make([]byte, 0, size), head[:len(head)-1]...)
	out = append(out, `,"spans":[`...)
	for i, it := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, it.JSON()...)
	}
	return append(out, "]}"...), nil
}

// frame is what a room sends to all of its members at once: messages that are encoded,
// and compressed, once.
type frame struct {
	messages []*websocket.PreparedMessage
	size     int
	// low is the lowest number of the spans in it.
	low int64
}

// noSpan is the low of a frame without spans.
const noSpan = math.MaxInt64

func (f *frame) add(data []byte) error {
	m, err := websocket.NewPreparedMessage(websocket.TextMessage, data)
	if err != nil {
		return fmt.Errorf("prepare message of %d bytes: %w", len(data), err)
	}
	f.messages = append(f.messages, m)
	f.size += len(data)
	return nil
}

func (f *frame) say(r reply) error {
	data, err := json.Marshal(&r)
	if err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return f.add(data)
}
