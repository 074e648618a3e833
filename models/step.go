package models

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

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

// MaxSteps bounds a page of step records.
const MaxSteps = 1_000

// Steps lists a run's step records in the order in which they were made, after a
// cursor.
func (d *DB) Steps(ctx context.Context, accountID, runID, cursor string, limit int) (page []StepRecord, next string, err error) {
	if _, err := d.Run(ctx, accountID, runID); err != nil {
		return nil, "", err
	}
	if limit <= 0 || limit > MaxSteps {
		limit = MaxSteps
	}
	db := d.Read(ctx).Where("run_id = ?", runID)
	if cursor != "" {
		seq, round, address, err := readStepCursor(cursor)
		if err != nil {
			return nil, "", err
		}
		db = db.Where("(seq, round, address) > (?, ?, ?)", seq, round, address)
	}
	if err := db.Order("seq, round, address").Limit(limit + 1).Find(&page).Error; err != nil {
		return nil, "", one(err, "steps of %s", runID)
	}
	if len(page) > limit {
		page = page[:limit]
		next = stepCursor(&page[limit-1])
	}
	return page, next, nil
}

func stepCursor(r *StepRecord) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %d %s", r.Seq, r.Round, r.Address))
}

func readStepCursor(cursor string) (seq, round int64, address string, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	parts := strings.SplitN(string(raw), " ", 3)
	if err != nil || len(parts) != 3 || Clean(parts[2]) != parts[2] {
		return 0, 0, "", ErrCursor
	}
	seq, errSeq := strconv.ParseInt(parts[0], 10, 64)
	round, errRound := strconv.ParseInt(parts[1], 10, 32)
	if errSeq != nil || errRound != nil {
		return 0, 0, "", ErrCursor
	}
	return seq, round, parts[2], nil
}
