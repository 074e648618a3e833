package jobs_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"sluice/engine/jobs"
	"sluice/models"
	"sluice/models/modelstest"
)

// recorder notes which runs it was asked to work.
type recorder struct{ worked, dispatched chan string }

func newRecorder() *recorder {
	return &recorder{make(chan string, 100), make(chan string, 100)}
}

func (r *recorder) RunSegment(_ context.Context, id string) error { r.worked <- id; return nil }
func (r *recorder) Dispatch(id string)                            { r.dispatched <- id }

type due []string

func (d due) Due(context.Context, time.Duration, int) ([]string, error) { return d, nil }

func receive(t *testing.T, ch <-chan string) string {
	t.Helper()
	select {
	case id := <-ch:
		return id
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came")
		return ""
	}
}

func enqueue(t *testing.T, db *models.DB, q *jobs.Queue, id string, at time.Time, fail error) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *gorm.DB) error {
		raw, ok := models.Tx(tx)
		require.True(t, ok)
		require.NoError(t, q.Enqueue(t.Context(), raw, map[string]time.Time{id: at}))
		return fail
	})
	require.ErrorIs(t, err, fail)
}

func TestJobsAreWorkedAndRolledBackOnesAreNot(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		q, err := jobs.New(db, jobs.Options{})
		require.NoError(t, err)
		r := newRecorder()
		require.NoError(t, q.Start(t.Context(), r, due{"left-over"}))
		require.Equal(t, "left-over", receive(t, r.dispatched))
		enqueue(t, db, q, "never", time.Now(), sql.ErrTxDone)
		enqueue(t, db, q, "now", time.Now(), nil)
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
		enqueue(t, db, q, "later", began.Add(time.Second), nil)
		again, err := jobs.New(db, jobs.Options{})
		require.NoError(t, err)
		r := newRecorder()
		require.NoError(t, again.Start(t.Context(), r, due{}))
		require.Equal(t, "later", receive(t, r.worked))
		require.GreaterOrEqual(t, time.Since(began), time.Second)
		require.NoError(t, again.Stop(context.Background()))
	})
}
