package models

import "context"

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

// Steps lists a run's step records in the order in which they were made.
func (d *DB) Steps(ctx context.Context, accountID, runID string) ([]StepRecord, error) {
	if _, err := d.Run(ctx, accountID, runID); err != nil {
		return nil, err
	}
	var out []StepRecord
	err := d.Read(ctx).Where("run_id = ?", runID).Order("seq, round").Find(&out).Error
	return out, one(err, "steps of %s", runID)
}
