package trace

import (
	"bytes"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"sluice/engine"
)

// Item is a span on its way to the sinks and the viewers. They share it, so nobody
// changes it, and it becomes JSON once, however many want that.
type Item struct {
	AccountID string
	Span      engine.Span

	once   sync.Once
	json   []byte
	stored atomic.Bool // the database has it, or a newer version
}

// NewItem returns an item for a span.
func NewItem(accountID string, s engine.Span) *Item {
	return &Item{AccountID: accountID, Span: s}
}

// Loaded returns an item for a span that was read from the database: of the span
// itself only the ids and the sequence number are known.
func Loaded(accountID, runID, id string, seq int64, body []byte) *Item {
	it := &Item{AccountID: accountID, Span: engine.Span{RunID: runID, ID: id, Seq: seq}, json: body}
	it.once.Do(func() {})
	it.stored.Store(true)
	return it
}

// JSON is the span as it is stored and sent, in valid UTF-8. Callers share it.
func (i *Item) JSON() []byte {
	i.once.Do(func() {
		if i.json = i.Span.AppendJSON(nil); !utf8.Valid(i.json) {
			i.json = bytes.ToValidUTF8(i.json, []byte("\uFFFD"))
		}
	})
	return i.json
}
