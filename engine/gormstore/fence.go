package gormstore

import (
	"context"
	"fmt"
	"strings"

	"sluice/models"
)

// fenceRow is what a fence reads of a run.
type fenceRow struct {
	fenced
	epoch, wakeups int64
	status, used   string
}

const fenceColumns = "id, account_id, workflow_id, epoch, status, wakeups, usage, span_seq"

func scanFence(row scanner) (f fenceRow, err error) {
	err = row.Scan(&f.id, &f.accountID, &f.workflowID, &f.epoch, &f.status, &f.wakeups, &f.used, &f.spanSeq)
	return f, err
}

// fenceRow is the row that was read for the group, once: what uses it may change it.
func (b *batch) fenceRow(ctx context.Context, runID string) (fenceRow, error) {
	if f, ok := b.fences[runID]; ok {
		delete(b.fences, runID)
		return f, nil
	}
	return scanFence(b.row(ctx, b.sql.forUpdate("SELECT "+fenceColumns+" FROM runs WHERE id = ?"), runID))
}

// fenceSizes are how many runs a statement asks for: few forms, so that each is
// prepared once.
var fenceSizes = []int{8, 32, 128, maxGroup}

// readFences reads the fences of a group's writes with one statement.
func (b *batch) readFences(ctx context.Context, group []*write) error {
	ids := make([]any, 0, len(group))
	for _, w := range group {
		if w.runID != "" {
			ids = append(ids, w.runID)
		}
	}
	if len(ids) < 2 {
		return nil
	}
	for _, size := range fenceSizes {
		if size >= len(ids) {
			for len(ids) < size {
				ids = append(ids, ids[0])
			}
			break
		}
	}
	query := "SELECT " + fenceColumns + " FROM runs WHERE id IN (?" + strings.Repeat(",?", len(ids)-1) + ")"
	if b.db.Dialect == models.Postgres {
		query += " ORDER BY id FOR UPDATE" // one order for all servers
	}
	rows, err := b.query(ctx, query, ids...)
	if err != nil {
		return fmt.Errorf("check %d leases: %w", len(ids), err)
	}
	defer rows.Close()
	b.fences = make(map[string]fenceRow, len(ids))
	for rows.Next() {
		f, err := scanFence(rows)
		if err != nil {
			return fmt.Errorf("check %d leases: %w", len(ids), err)
		}
		b.fences[f.id] = f
	}
	return rows.Err()
}
