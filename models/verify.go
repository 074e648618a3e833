package models

import (
	"context"
	"fmt"
	"strings"
)

// Violation is something in the database that must never be there.
type Violation struct {
	// Invariant names what is broken, Subject the row: a step's address, the id of an
	// approval, or nothing where it is the run itself.
	Invariant string `json:"invariant"`
	RunID     string `json:"run_id"`
	Subject   string `json:"subject,omitempty"`
	Detail    string `json:"detail,omitempty"`
}

func (v Violation) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s: run %s %s %s", v.Invariant, v.RunID, v.Subject, v.Detail))
}

const (
	runOver  = "r.status IN ('succeeded', 'failed', 'rejected', 'cancelled')"
	runParks = "r.status IN ('waiting', 'pending_approval')"
	stepOver = "s.status IN ('succeeded', 'failed', 'skipped', 'cancelled')"
	live     = "NOT s.superseded"
)

// invariants are queries for what breaks them: run, subject, detail. They hold after
// every transaction, also while runs are being worked.
var invariants = []struct{ name, query string }{
	{"a run that is over has no open step", "SELECT r.id, s.address, s.status FROM runs r JOIN step_records s ON s.run_id = r.id WHERE " + runOver + " AND " + live + " AND NOT " + stepOver},
	{"a run that is over has no open wait", "SELECT r.id, p.id, p.address FROM runs r JOIN parks p ON p.run_id = r.id WHERE " + runOver + " AND p.status = 'open'"},
	{"a run that is over has no pending approval", "SELECT r.id, a.id, a.address FROM runs r JOIN approvals a ON a.run_id = r.id WHERE " + runOver + " AND a.status = 'pending'"},
	{"a run that is over has no timer", "SELECT r.id, '', '' FROM runs r WHERE " + runOver + " AND r.wake_at IS NOT NULL"},
	{"only a running run has a lease", "SELECT r.id, r.lease_owner, r.status FROM runs r WHERE r.status <> 'running' AND (r.lease_until IS NOT NULL OR r.lease_owner <> '')"},
	{"a run has an end exactly when it is over", "SELECT r.id, '', r.status FROM runs r WHERE (r.ended_at IS NOT NULL) <> (" + runOver + ")"},
	{"a run has an error exactly when it did not succeed", "SELECT r.id, r.status, r.error FROM runs r WHERE (r.error <> '') <> (r.status IN ('failed', 'rejected', 'cancelled'))"},
	{"a parked run waits for something", "SELECT r.id, '', r.status FROM runs r WHERE " + runParks + " AND r.wake_at IS NULL AND NOT EXISTS (SELECT 1 FROM parks p WHERE p.run_id = r.id AND p.status = 'open')"},
	{"a run that waits for people has a pending approval", "SELECT r.id, '', '' FROM runs r WHERE r.status = 'pending_approval' AND NOT EXISTS (SELECT 1 FROM approvals a WHERE a.run_id = r.id AND a.status = 'pending')"},
	{"a run was woken once for each decision", "SELECT r.id, '', CAST(r.wakeups AS TEXT) FROM runs r WHERE r.wakeups <> (SELECT COUNT(*) FROM decisions d JOIN parks p ON p.id = d.park_id WHERE p.run_id = r.id)"},

	{"a parked step has an open wait", "SELECT s.run_id, s.address, s.park_id FROM step_records s WHERE s.status = 'parked' AND " + live +
		" AND NOT EXISTS (SELECT 1 FROM parks p WHERE p.id = s.park_id AND p.run_id = s.run_id AND p.status = 'open')"},
	{"an open wait has a parked step", "SELECT p.run_id, p.address, p.id FROM parks p WHERE p.status = 'open'" +
		" AND NOT EXISTS (SELECT 1 FROM step_records s WHERE s.run_id = p.run_id AND s.address = p.address AND s.round = p.round AND s.park_id = p.id AND s.status = 'parked' AND " + live + ")"},
	{"a retrying step has a next attempt", "SELECT s.run_id, s.address, '' FROM step_records s WHERE s.status = 'retrying' AND " + live + " AND s.next_attempt_at IS NULL"},
	{"a step has an end exactly when it is over", "SELECT s.run_id, s.address, s.status FROM step_records s WHERE (s.ended_at IS NOT NULL) <> (" + stepOver + ")"},
	{"a step that is running or over by itself was begun", "SELECT s.run_id, s.address, s.status FROM step_records s WHERE s.status IN ('running', 'parked', 'succeeded', 'failed') AND s.attempt < 1"},
	{"a step has one live record", "SELECT s.run_id, s.address, CAST(COUNT(*) AS TEXT) FROM step_records s WHERE " + live + " GROUP BY s.run_id, s.address HAVING COUNT(*) > 1"},
	// Numbers may be missing: an attempt has one before it has a row, and may be cut off.
	{"records of a run are numbered apart", "SELECT s.run_id, MIN(s.address), CAST(s.seq AS TEXT) FROM step_records s GROUP BY s.run_id, s.seq HAVING COUNT(*) > 1"},
	{"an approval is pending exactly while its wait is open", "SELECT a.run_id, a.id, a.status FROM approvals a JOIN parks p ON p.id = a.id WHERE (a.status = 'pending') <> (p.status = 'open')"},
	{"an approval is decided exactly when its wait is", "SELECT a.run_id, a.id, a.status FROM approvals a JOIN parks p ON p.id = a.id WHERE (a.status = 'decided') <> (p.status = 'decided')"},
	{"a wait has a decision exactly when it is decided", "SELECT p.run_id, p.id, p.status FROM parks p WHERE (p.status = 'decided') <> (EXISTS (SELECT 1 FROM decisions d WHERE d.park_id = p.id))"},
	{"a wait has an end exactly when it is not open", "SELECT p.run_id, p.id, p.status FROM parks p WHERE (p.closed_at IS NULL) <> (p.status = 'open')"},

	{"spans have numbers that were given out", "SELECT r.id, '', CAST(x.last_seq AS TEXT) FROM runs r JOIN span_pages x ON x.run_id = r.id WHERE x.last_seq > r.span_seq OR x.first_seq < 1 OR x.first_seq > x.last_seq"},
}

// maxViolations bounds what is listed of one invariant.
const maxViolations = 100

// Verify looks for rows that break the invariants of runs. What only the workflow's
// definition tells is left to gormstore.Verify.
func (d *DB) Verify(ctx context.Context) ([]Violation, error) {
	var out []Violation
	for _, i := range invariants {
		var rows []Violation
		query := "SELECT run_id, subject, detail FROM (SELECT '' AS run_id, '' AS subject, '' AS detail WHERE 1 = 0 UNION ALL " + i.query + ") AS broken LIMIT ?"
		if err := d.Read(ctx).Raw(query, maxViolations).Scan(&rows).Error; err != nil {
			return nil, fmt.Errorf("verify that %s: %w", i.name, err)
		}
		for _, v := range rows {
			v.Invariant = i.name
			out = append(out, v)
		}
	}
	return out, nil
}
