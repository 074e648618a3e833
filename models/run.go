package models

import (
	"context"
	"strings"

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

// StepRecord is the state of one step of a run.
type StepRecord struct {
	RunID         string `gorm:"primaryKey"`
	Address       string `gorm:"primaryKey"`
	Round         int    `gorm:"primaryKey"`
	NodeID        string
	Type          string
	Status        string
	Attempt       int
	Seq           int64
	Input         string
	Output        string
	Error         string
	Handle        string
	Taken         string
	Variables     string
	Decision      string
	NextAttemptAt Time
	ParkID        string
	Usage         string
	Warning       string
	Superseded    bool
	Recoveries    int
	StartedAt     Time
	EndedAt       Time
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
		db = db.Where("status IN ?", q.Statuses)
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
		db = db.Where("workflow_id = ?", q.WorkflowID)
	}
	words := splitWords(q.Search)
	if len(words) == 0 {
		return db
	}
	named := "SELECT id FROM workflows WHERE account_id = ?"
	args := []any{q.AccountID}
	var namedSb127 strings.Builder
	for _, w := range words {
		namedSb127.WriteString(` AND search LIKE ? ESCAPE '\'`)
		args = append(args, like(w))
	}
	named += namedSb127.String()
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

// Steps lists a run's step records in the order in which they were made.
func (d *DB) Steps(ctx context.Context, accountID, runID string) ([]StepRecord, error) {
	if _, err := d.Run(ctx, accountID, runID); err != nil {
		return nil, err
	}
	var out []StepRecord
	err := d.Read(ctx).Where("run_id = ?", runID).Order("seq, round").Find(&out).Error
	return out, one(err, "steps of %s", runID)
}
