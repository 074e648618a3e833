package models

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gorm.io/gorm"
)

// Span is a version of a node of a run's trace tree, as JSON.
type Span struct {
	RunID     string
	ID        string
	Seq       int64
	AccountID string
	Body      string
}

// SpanPage is a stretch of a run's spans as they are stored: a line for each, with
// its number, its id and its JSON, between tabs. Ids hold no control characters, and
// JSON is written without any.
type SpanPage struct {
	RunID     string `gorm:"primaryKey"`
	FirstSeq  int64  `gorm:"primaryKey"`
	LastSeq   int64  `gorm:"primaryKey"`
	AccountID string
	Body      string
}

// maxPageSpans and maxPageBytes bound a page, so that who reads page by page holds
// little at once. A single larger span has a page of its own.
const (
	maxPageSpans = 500
	maxPageBytes = 256 << 10
)

// SaveSpans adds spans to what is stored. Those of runs that are gone are left out.
func (d *DB) SaveSpans(ctx context.Context, spans []Span) error {
	if len(spans) == 0 {
		return nil
	}
	pages := pagesOf(spans)
	insert := "INSERT INTO span_pages (run_id, first_seq, last_seq, account_id, body) SELECT ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM runs WHERE id = ?) ON CONFLICT DO NOTHING"
	if d.Dialect == Postgres {
		insert = "INSERT INTO span_pages (run_id, first_seq, last_seq, account_id, body) SELECT $1, $2::bigint, $3::bigint, $4, $5 WHERE EXISTS (SELECT 1 FROM runs WHERE id = $6) ON CONFLICT DO NOTHING"
	}
	err := d.Write(ctx, func(tx *gorm.DB) error {
		conn, ok := tx.Statement.ConnPool.(*sql.Tx)
		if !ok {
			return fmt.Errorf("a transaction is a %T", tx.Statement.ConnPool)
		}
		st, err := conn.PrepareContext(ctx, insert)
		if err != nil {
			return err
		}
		defer st.Close() //nolint:errcheck // the transaction's end closes it as well
		for _, p := range pages {
			if _, err := st.ExecContext(ctx, p.RunID, p.FirstSeq, p.LastSeq, p.AccountID, p.Body, p.RunID); err != nil {
				return err
			}
		}
		return d.pingSpans(tx, spans)
	})
	return one(err, "save spans")
}

// pagesOf puts spans into pages, run by run and in their order, the last version of
// each alone. One order for all writers keeps two from waiting for each other in a
// circle.
func pagesOf(spans []Span) []SpanPage {
	rows := latest(spans)
	slices.SortFunc(rows, func(a, b Span) int { return cmp.Or(cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.Seq, b.Seq)) })
	var pages []SpanPage
	var body strings.Builder
	var open *SpanPage
	held := 0
	finish := func() {
		if open != nil {
			open.Body = Clean(body.String())
			pages = append(pages, *open)
		}
		open, held = nil, 0
		body.Reset()
	}
	for i := range rows {
		s := &rows[i]
		if open != nil && (open.RunID != s.RunID || held == maxPageSpans || body.Len()+len(s.Body) > maxPageBytes) {
			finish()
		}
		if open == nil {
			open = &SpanPage{RunID: s.RunID, AccountID: s.AccountID, FirstSeq: s.Seq}
		}
		open.LastSeq = s.Seq
		held++
		body.WriteString(strconv.FormatInt(s.Seq, 10))
		body.WriteByte('\t')
		body.WriteString(s.ID)
		body.WriteByte('\t')
		body.WriteString(s.Body)
		body.WriteByte('\n')
	}
	finish()
	return pages
}

// latest keeps the last version of each span.
func latest(spans []Span) []Span {
	type key struct{ run, id string }
	at := make(map[key]int, len(spans))
	out := make([]Span, 0, len(spans))
	for _, s := range spans {
		k := key{s.RunID, s.ID}
		if i, ok := at[k]; !ok {
			at[k] = len(out)
			out = append(out, s)
		} else if out[i].Seq < s.Seq {
			out[i] = s
		}
	}
	return out
}

// spans reads a page.
func (p *SpanPage) spans() ([]Span, error) {
	var out []Span
	for line := range strings.Lines(p.Body) {
		seq, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		id, body, ok2 := strings.Cut(rest, "\t")
		n, err := strconv.ParseInt(seq, 10, 64)
		if err != nil || !ok || !ok2 {
			return nil, fmt.Errorf("page %d to %d of the spans of %s is damaged", p.FirstSeq, p.LastSeq, p.RunID)
		}
		out = append(out, Span{RunID: p.RunID, ID: id, Seq: n, AccountID: p.AccountID, Body: body})
	}
	return out, nil
}

// MaxSpans and spanBytes bound what is listed at once; the last stored page may go
// beyond.
const (
	MaxSpans  = 1_000
	spanBytes = 1 << 20
)

// Spans lists a run's spans that changed after a sequence number, in its order, and
// tells whether there are more. An older version of a span may come before a newer.
func (d *DB) Spans(ctx context.Context, accountID, runID string, after int64, limit int) (page []Span, more bool, err error) {
	page, more, err = listSpans(d.Read(ctx).Where("run_id = ? AND account_id = ? AND last_seq > ?", runID, accountID, after), after, limit)
	return page, more, one(err, "spans of %s", runID)
}

// SpansOfRun is Spans for a run of any account: for handing them on to those who
// have been let in.
func (d *DB) SpansOfRun(ctx context.Context, runID string, after int64) (page []Span, more bool, err error) {
	page, more, err = listSpans(d.Read(ctx).Where("run_id = ? AND last_seq > ?", runID, after), after, MaxSpans)
	return page, more, one(err, "spans of %s", runID)
}

// listSpans reads page by page: they may be large, and the list is to end in time.
// Pages that two servers wrote at once may cross, so it goes on until no further one
// can begin before the list's end.
func listSpans(query *gorm.DB, after int64, limit int) (list []Span, more bool, err error) {
	if limit <= 0 || limit > MaxSpans {
		limit = MaxSpans
	}
	rows, err := query.Model(&SpanPage{}).Select("run_id, first_seq, last_seq, account_id, body").Order("first_seq").Rows()
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	for size := 0; rows.Next(); {
		var p SpanPage
		if err := rows.Scan(&p.RunID, &p.FirstSeq, &p.LastSeq, &p.AccountID, &p.Body); err != nil {
			return nil, false, err
		}
		if size > spanBytes {
			limit = min(limit, len(list))
		}
		if len(list) >= limit && p.FirstSeq > list[limit-1].Seq {
			more = true
			break
		}
		spans, err := p.spans()
		if err != nil {
			return nil, false, err
		}
		size += len(p.Body)
		list = append(list, slices.DeleteFunc(spans, func(s Span) bool { return s.Seq <= after })...)
		slices.SortFunc(list, func(a, b Span) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	if err := rows.Err(); err != nil {
		return nil, false, err
	}
	if len(list) > limit {
		list, more = list[:limit], true
	}
	list = latest(list)
	slices.SortFunc(list, func(a, b Span) int { return cmp.Compare(a.Seq, b.Seq) })
	return list, more, nil
}
