package jobs_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"gorm.io/gorm"

	"sluice/engine/jobs"
	"sluice/models"
	"sluice/models/modelstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder notes which runs it was asked to work.
type recorder struct {
	worked, dispatched chan string
	err                error
}

func newRecorder() *recorder {
	return &recorder{worked: make(chan string, 100), dispatched: make(chan string, 100)}
}

func (r *recorder) RunSegment(_ context.Context, id string) error { r.worked <- id; return r.err }
func (r *recorder) Dispatch(id string)                            { r.dispatched <- id }

// due is a source of due runs that tells with which grace it was asked.
type due struct {
	ids    []string
	graces chan time.Duration
}

func (d due) Due(_ context.Context, grace time.Duration, _ int) ([]string, error) {
	if d.graces != nil {
		d.graces <- grace
	}
	return d.ids, nil
}

func receive[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(30 * time.Second):
		require.Fail(t, "nothing came")
		panic("unreachable")
	}
}

// addRun stores a run in a status; wake may be zero.
func addRun(t *testing.T, db *models.DB, id, status string, wake time.Time) {
	t.Helper()
	modelstest.Invented(db)
	owner, _, err := db.Bootstrap(t.Context())
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(tx *gorm.DB) error {
		return tx.Create(&models.Run{ID: id, AccountID: owner.AccountID, Status: status, WakeAt: models.At(wake), CreatedAt: models.Now()}).Error
	}))
}

func enqueue(t *testing.T, db *models.DB, q *jobs.Queue, runs map[string]time.Time, fail error) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *gorm.DB) error {
		raw, ok := models.Tx(tx)
		require.True(t, ok)
		require.NoError(t, q.Enqueue(t.Context(), raw, runs))
		return fail
	})
	require.ErrorIs(t, err, fail)
}

func TestJobsAreWorkedAndRolledBackOnesAreNot(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		q, err := jobs.New(db, jobs.Options{})
		require.NoError(t, err)
		addRun(t, db, "never", "queued", time.Time{})
		addRun(t, db, "now", "queued", time.Time{})
		r := newRecorder()
		require.NoError(t, q.Start(t.Context(), r, due{ids: []string{"left-over"}}))
		require.Equal(t, "left-over", receive(t, r.dispatched))
		enqueue(t, db, q, map[string]time.Time{"never": time.Now()}, sql.ErrTxDone)
		enqueue(t, db, q, map[string]time.Time{"now": time.Now()}, nil)
		require.Equal(t, "now", receive(t, r.worked))
		require.NoError(t, q.Stop(context.Background()))
		require.NoError(t, q.Stop(context.Background()))
	})
}

func TestTimersSurviveARestart(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		q, err := jobs.New(db, jobs.Options{})
		require.NoError(t, err)
		began := time.Now()
		addRun(t, db, "later", "waiting", began.Add(time.Second))
		enqueue(t, db, q, map[string]time.Time{"later": began.Add(time.Second)}, nil)
		again, err := jobs.New(db, jobs.Options{})
		require.NoError(t, err)
		r := newRecorder()
		require.NoError(t, again.Start(t.Context(), r, due{}))
		require.Equal(t, "later", receive(t, r.worked))
		require.GreaterOrEqual(t, time.Since(began), time.Second)
		require.NoError(t, again.Stop(context.Background()))
	})
}

func TestRunsThatRestAreLeftAlone(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		q, err := jobs.New(db, jobs.Options{Workers: 1})
		require.NoError(t, err)
		past, future := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
		addRun(t, db, "asks", "pending_approval", time.Time{})
		addRun(t, db, "sleeps", "waiting", future)
		addRun(t, db, "over", "succeeded", time.Time{})
		addRun(t, db, "woken", "pending_approval", past)
		r := newRecorder()
		require.NoError(t, q.Start(t.Context(), r, due{}))
		now := time.Now()
		enqueue(t, db, q, map[string]time.Time{"asks": now, "sleeps": now, "over": now, "gone": now}, nil)
		enqueue(t, db, q, map[string]time.Time{"woken": now.Add(time.Millisecond)}, nil)
		require.Equal(t, "woken", receive(t, r.worked), "one worker takes jobs by their time")
		require.NoError(t, q.Stop(context.Background()))
		require.Empty(t, r.worked)
	})
}

func TestAFailedJobIsTriedAgain(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		q, err := jobs.New(db, jobs.Options{})
		require.NoError(t, err)
		addRun(t, db, "r", "queued", time.Time{})
		r := newRecorder()
		r.err = errors.New("database away")
		require.NoError(t, q.Start(t.Context(), r, due{}))
		enqueue(t, db, q, map[string]time.Time{"r": time.Now()}, nil)
		receive(t, r.worked)
		receive(t, r.worked)
		require.NoError(t, q.Stop(context.Background()))
	})
}

func TestTheFirstSweepRecoversAtOnceAndLaterOnesLeaveTime(t *testing.T) {
	t.Parallel()
	q, err := jobs.New(modelstest.SQLite(t), jobs.Options{Sweep: time.Millisecond, Grace: time.Minute})
	require.NoError(t, err)
	d := due{graces: make(chan time.Duration, 1_000_000)}
	require.NoError(t, q.Start(t.Context(), newRecorder(), d))
	require.Zero(t, receive(t, d.graces))
	require.Equal(t, time.Minute, receive(t, d.graces))
	require.NoError(t, q.Stop(context.Background()))
}

func TestAQueueThatWasNotStartedStops(t *testing.T) {
	t.Parallel()
	q, err := jobs.New(modelstest.SQLite(t), jobs.Options{})
	require.NoError(t, err)
	require.NoError(t, q.Stop(context.Background()))
}
