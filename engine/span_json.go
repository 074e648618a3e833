package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"sluice/engine/expr"
)

// AppendJSON appends the span as [json.Marshal] would write it, HTML left as it is,
// several times faster: a busy engine writes hundreds of thousands a second. Its raw
// parts are taken as they are.
func (s *Span) AppendJSON(b []byte) []byte {
	w := spanWriter{b: append(b, '{')}
	w.text("run_id", s.RunID, true)
	w.number("seq", s.Seq, true)
	w.text("id", s.ID, true)
	w.text("parent_id", s.ParentID, false)
	w.text("kind", string(s.Kind), true)
	w.text("name", s.Name, true)
	w.text("node_id", s.NodeID, false)
	w.text("node_type", s.NodeType, false)
	w.text("address", s.Address, false)
	w.number("round", int64(s.Round), false)
	w.number("attempt", int64(s.Attempt), false)
	w.text("status", s.Status, true)
	w.time("started_at", s.Start)
	if !s.End.IsZero() {
		w.time("ended_at", s.End)
	}
	w.raw("input", s.Input)
	w.raw("output", s.Output)
	if s.Error != nil {
		w.value("error", s.Error)
	}
	if s.Usage != (Usage{}) {
		w.value("usage", s.Usage)
	}
	if len(s.Attributes) > 0 {
		w.key("attributes")
		inner := spanWriter{b: append(w.b, '{')}
		for _, k := range slices.Sorted(maps.Keys(s.Attributes)) {
			raw := s.Attributes[k]
			if len(raw) == 0 {
				raw = json.RawMessage("null")
			}
			inner.raw(k, raw)
		}
		w.b = append(inner.b, '}')
	}
	return append(w.b, '}')
}

// spanWriter writes the fields of an object.
type spanWriter struct {
	b    []byte
	more bool
}

func (w *spanWriter) key(name string) {
	if w.more {
		w.b = append(w.b, ',')
	}
	w.more = true
	w.b = append(expr.AppendString(w.b, name), ':')
}

func (w *spanWriter) text(name, value string, always bool) {
	if value != "" || always {
		w.key(name)
		w.b = expr.AppendString(w.b, value)
	}
}

func (w *spanWriter) number(name string, value int64, always bool) {
	if value != 0 || always {
		w.key(name)
		w.b = strconv.AppendInt(w.b, value, 10)
	}
}

func (w *spanWriter) time(name string, t time.Time) {
	w.key(name)
	w.b = append(t.AppendFormat(append(w.b, '"'), time.RFC3339Nano), '"')
}

func (w *spanWriter) raw(name string, raw json.RawMessage) {
	if len(raw) > 0 {
		w.key(name)
		w.b = append(w.b, raw...)
	}
}

// value is for what is rare, and of a shape that always encodes.
func (w *spanWriter) value(name string, v any) {
	raw, err := expr.Encode(v)
	if err != nil {
		raw = json.RawMessage("null")
	}
	w.raw(name, raw)
}
