package models

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"
)

// Run is one execution of a version. Empty JSON columns are empty text.
type Run struct {
	ID             string
	AccountID      string
	WorkflowID     string
	VersionID      string
	DefinitionHash string
	Status         string
	Input          string
	Variables      string
	Output         string
	Error          string
	Usage          string
	IdempotencyKey *string
	StartedBy      string
	ParentRunID    string
	ParentAddress  string
	Depth          int
	Epoch          int64
	LeaseOwner     string
	LeaseUntil     Time
	Wakeups        int64
	SpanSeq        int64
	WakeAt         Time
	CreatedAt      Time
	StartedAt      Time
	EndedAt        Time
}

// RunItem is a run with the names that people know it by.
type RunItem struct {
	Run
	WorkflowName string
	Version      int
}

// RunQuery filters the run list.
type RunQuery struct {
	AccountID  string
	Statuses   []string
	WorkflowID string
	// Search matches the start of a run's id or words of its workflow's name.
	Search string
	Cursor string
	Limit  int
}

const runJoin = "runs LEFT JOIN workflows ON workflows.id = runs.workflow_id LEFT JOIN workflow_versions ON workflow_versions.id = runs.version_id"

const runNames = "COALESCE(workflows.name, '') AS workflow_name, COALESCE(workflow_versions.version, 0) AS version"

// Runs lists runs, the newest first, without their inputs and outputs.
func (d *DB) Runs(ctx context.Context, q RunQuery) ([]RunItem, string, error) {
	db := runFilter(d.Read(ctx).Table("runs"), q)
	if len(q.Statuses) > 0 {
		statuses := make([]string, len(q.Statuses))
		for i, st := range q.Statuses {
			statuses[i] = Clean(st)
		}
		db = db.Where("status IN ?", statuses)
	}
	db, limit, err := paged(db, "created_at", q.Cursor, q.Limit)
	if err != nil {
		return nil, "", err
	}
	var ids []string
	if err := db.Pluck("id", &ids).Error; err != nil {
		return nil, "", one(err, "list runs")
	}
	more := len(ids) > limit
	if more {
		ids = ids[:limit]
	}
	var rows []RunItem
	err = d.Read(ctx).Table(runJoin).Where("runs.id IN ?", ids).
		Select("runs.id, runs.account_id, runs.workflow_id, runs.version_id, runs.status, runs.error, runs.usage, runs.started_by, runs.parent_run_id, runs.created_at, runs.started_at, runs.ended_at, " + runNames).
		Order("runs.created_at DESC, runs.id DESC").Scan(&rows).Error
	next := ""
	if more && len(rows) > 0 {
		next = cursorOf(rows[len(rows)-1].CreatedAt, rows[len(rows)-1].ID)
	}
	return rows, next, one(err, "list runs")
}

func runFilter(db *gorm.DB, q RunQuery) *gorm.DB {
	db = db.Where("account_id = ?", q.AccountID)
	if q.WorkflowID != "" {
		db = db.Where("workflow_id = ?", Clean(q.WorkflowID))
	}
	words := splitWords(q.Search)
	if len(words) == 0 {
		return db
	}
	named := "SELECT id FROM workflows WHERE account_id = ?"
	args := []any{q.AccountID}
	named += strings.Repeat(` AND search LIKE ? ESCAPE '\'`, len(words))
	for _, w := range words {
		args = append(args, like(w))
	}
	return db.Where(`(id LIKE ? ESCAPE '\' OR workflow_id IN (`+named+`))`, append([]any{like(words[0])[1:]}, args...)...)
}

// RunCounts counts runs by status, with the query's other filters.
func (d *DB) RunCounts(ctx context.Context, q RunQuery) (map[string]int64, error) {
	var rows []struct {
		Status string
		N      int64
	}
	err := runFilter(d.Read(ctx).Table("runs"), q).Select("status, COUNT(*) AS n").Group("status").Scan(&rows).Error
	counts := make(map[string]int64, len(rows))
	for _, r := range rows {
		counts[r.Status] = r.N
	}
	return counts, one(err, "count runs")
}

// Run finds a run.
func (d *DB) Run(ctx context.Context, accountID, id string) (RunItem, error) {
	var r RunItem
	err := d.Read(ctx).Table(runJoin).Where("runs.account_id = ? AND runs.id = ?", accountID, id).Select("runs.*, " + runNames).Take(&r).Error
	return r, one(err, "run %s", id)
}

// wakeSlack is how much early a wake time counts as come: queues round times.
const wakeSlack = 100 * time.Millisecond

// RunAwaitsWork reports whether a run of any account could go on now: it is not
// over, and does not wait for a person or a later time. A run that is gone does not.
func (d *DB) RunAwaitsWork(ctx context.Context, id string) (bool, error) {
	var n int64
	err := d.Read(ctx).Model(&Run{}).
		Where("id = ? AND (status IN ('queued', 'running') OR (status IN ('waiting', 'pending_approval') AND wake_at <= ?))", id, At(time.Now().Add(wakeSlack))).Count(&n).Error
	return n > 0, one(err, "look at run %s", id)
}
