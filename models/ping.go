package models

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"
)

// Ping tells the other servers on a PostgreSQL database what a transaction has
// changed. It carries ids only: whoever needs more reads it. It is sent with the
// commit, so that what it tells of is there to be read.
type Ping struct {
	Origin string `json:"o,omitempty"`
	// Runs are runs whose state has changed, Due those of them that can go on now and
	// that the origin will not work itself.
	Runs []string `json:"r,omitempty"`
	Due  []string `json:"d,omitempty"`
	// Inbox are the accounts whose approvals have changed.
	Inbox []string `json:"i,omitempty"`
	// Spans are runs with new spans, and the lowest of their sequence numbers.
	Spans map[string]int64 `json:"s,omitempty"`
	// Lost is not sent: pings may have been missed, so anything may have changed.
	Lost bool `json:"-"`
}

// pingChannel is the channel of PostgreSQL that pings go over.
const pingChannel = "sluice"

// maxPing bounds a payload. PostgreSQL takes less than 8,000 bytes; an id beside its
// quotes may take as much as it likes of the rest.
const maxPing = 6_000

// Ping sends a ping when the transaction commits; nothing on SQLite, which has one
// server.
func (d *DB) Ping(ctx context.Context, tx *sql.Tx, p Ping) error {
	if d.Dialect != Postgres {
		return nil
	}
	for _, payload := range d.payloads(p) {
		if _, err := tx.ExecContext(ctx, "SELECT pg_notify($1, $2)", pingChannel, payload); err != nil {
			return fmt.Errorf("tell the other servers: %w", err)
		}
	}
	return nil
}

// payloads are a ping in as many parts as it needs.
func (d *DB) payloads(p Ping) []string {
	var out []string
	part, size := Ping{}, 0
	flush := func() {
		if size == 0 {
			return
		}
		part.Origin = d.origin
		raw, _ := json.Marshal(&part) // strings and numbers: it can't fail
		out = append(out, string(raw))
		part, size = Ping{}, 0
	}
	room := func(id string) {
		if size += len(id) + 24; size > maxPing {
			size -= len(id) + 24
			flush()
			size = len(id) + 24
		}
	}
	for _, id := range p.Runs {
		room(id)
		part.Runs = append(part.Runs, id)
	}
	for _, id := range p.Due {
		room(id)
		part.Due = append(part.Due, id)
	}
	for _, id := range p.Inbox {
		room(id)
		part.Inbox = append(part.Inbox, id)
	}
	for id, seq := range p.Spans {
		room(id)
		if part.Spans == nil {
			part.Spans = map[string]int64{}
		}
		part.Spans[id] = seq
	}
	flush()
	return out
}

// pingSpans tells of spans that the transaction has saved. Only then: at the commit
// that they describe they are not there to be read yet.
func (d *DB) pingSpans(tx *gorm.DB, rows []Span) error {
	if d.Dialect != Postgres {
		return nil
	}
	p := Ping{Spans: map[string]int64{}}
	for i := range rows {
		if low, ok := p.Spans[rows[i].RunID]; !ok || rows[i].Seq < low {
			p.Spans[rows[i].RunID] = rows[i].Seq
		}
	}
	inner, _ := Tx(tx)
	return d.Ping(tx.Statement.Context, inner, p)
}
