package gormstore

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"sync"

	"sluice/models"
)

// statements turns queries, which are all written with "?", into a dialect's, and
// keeps SQLite's prepared. The driver of PostgreSQL does that itself.
//
// Only the goroutine that commits uses the prepared ones. A statement can't be
// prepared while a transaction has SQLite's only connection, so what was missing is
// noted and prepared between two groups.
type statements struct {
	db       *models.DB
	bound    *sync.Map // query → PostgreSQL's form
	prepared map[string]*sql.Stmt
	missing  map[string]bool
}

// maxPrepared bounds the statements kept. The store's queries are far fewer.
const maxPrepared = 200

func newStatements(db *models.DB) statements {
	return statements{db: db, bound: &sync.Map{}, prepared: map[string]*sql.Stmt{}, missing: map[string]bool{}}
}

// bind numbers the placeholders for PostgreSQL.
func (s *statements) bind(query string) string {
	if s.db.Dialect != models.Postgres {
		return query
	}
	if q, ok := s.bound.Load(query); ok {
		return q.(string)
	}
	var out strings.Builder
	n := 0
	for part := range strings.SplitSeq(query, "?") {
		if n > 0 {
			out.WriteString("$" + strconv.Itoa(n))
		}
		out.WriteString(part)
		n++
	}
	s.bound.Store(query, out.String())
	return out.String()
}

// in is the prepared statement in a transaction, or nil.
func (s *statements) in(ctx context.Context, tx *sql.Tx, query string) *sql.Stmt {
	if s.db.Dialect != models.SQLite {
		return nil
	}
	if st, ok := s.prepared[query]; ok {
		return tx.StmtContext(ctx, st)
	}
	s.missing[query] = true
	return nil
}

// prepare prepares what the last group missed. A failure only costs time.
func (s *statements) prepare() {
	for query := range s.missing {
		if len(s.prepared) < maxPrepared {
			ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
			if st, err := s.db.SQL().PrepareContext(ctx, query); err == nil { //nolint:sqlclosecheck // kept for the life of the store
				s.prepared[query] = st
			}
			cancel()
		}
		delete(s.missing, query)
	}
}

func (s *statements) close() {
	for _, st := range s.prepared {
		_ = st.Close()
	}
}

// now is the database's clock in microseconds, as an SQL expression. Leases are
// compared by it, so that servers with wrong clocks agree.
func (s *statements) now() string {
	if s.db.Dialect == models.Postgres {
		return "(extract(epoch from clock_timestamp())*1000000)::bigint"
	}
	return "CAST(unixepoch('subsec')*1000000 AS INTEGER)"
}

// forUpdate locks the rows of a query where that is needed: SQLite has one writer.
func (s *statements) forUpdate(query string) string {
	if s.db.Dialect == models.Postgres {
		return query + " FOR UPDATE"
	}
	return query
}
