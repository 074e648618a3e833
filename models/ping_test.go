package models_test

import (
	"context"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"sluice/models"
	"sluice/models/modelstest"
)

// ear collects pings.
type ear chan models.Ping

func listen(t *testing.T, db *models.DB) ear {
	t.Helper()
	heard := make(ear, 1_000)
	l := models.NewListener(db, slog.New(slog.DiscardHandler), func(p models.Ping) { heard <- p })
	require.NoError(t, l.Start(t.Context()))
	require.NoError(t, l.Start(t.Context()))
	t.Cleanup(func() {
		require.NoError(t, l.Stop(context.Background()))
		require.NoError(t, l.Stop(context.Background()))
	})
	return heard
}

func (e ear) next(t *testing.T) models.Ping {
	t.Helper()
	select {
	case p := <-e:
		return p
	case <-time.After(30 * time.Second):
		t.Fatal("no ping came")
		return models.Ping{}
	}
}

func send(t *testing.T, db *models.DB, p models.Ping) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(tx *gorm.DB) error {
		inner, ok := models.Tx(tx)
		require.True(t, ok)
		return db.Ping(t.Context(), inner, p)
	}))
}

func TestPingsReachTheOtherServersWhole(t *testing.T) {
	t.Parallel()
	address := modelstest.PostgresURL(t)
	here, there := modelstest.Open(t, address), modelstest.Open(t, address)
	own, other := listen(t, here), listen(t, there)
	require.True(t, own.next(t).Lost)
	require.True(t, other.next(t).Lost)
	const runs = 1_000 // far more than one payload holds
	want := models.Ping{Inbox: []string{"account"}, Spans: map[string]int64{}}
	for range runs {
		id := models.NewID()
		want.Runs = append(want.Runs, id)
		want.Spans[id] = 7
	}
	want.Due = want.Runs[:10]
	send(t, here, want)
	got := models.Ping{Spans: map[string]int64{}}
	for len(got.Runs) < runs || len(got.Due) < 10 || len(got.Inbox) == 0 || len(got.Spans) < runs {
		p := other.next(t)
		got.Runs, got.Due, got.Inbox = append(got.Runs, p.Runs...), append(got.Due, p.Due...), append(got.Inbox, p.Inbox...)
		maps.Copy(got.Spans, p.Spans)
	}
	require.Equal(t, want, got)
	// Nobody hears their own: the first that comes is from the other side.
	send(t, there, models.Ping{Runs: []string{"answer"}})
	require.Equal(t, []string{"answer"}, own.next(t).Runs)
}

func TestAListenerComesBackAndSaysThatItWasAway(t *testing.T) {
	t.Parallel()
	address := modelstest.PostgresURL(t)
	here, there := modelstest.Open(t, address), modelstest.Open(t, address)
	heard := listen(t, there)
	require.True(t, heard.next(t).Lost)
	var ended int64
	require.NoError(t, here.Read(t.Context()).Raw(
		"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN sluice'").Scan(&ended).Error)
	require.EqualValues(t, 1, ended)
	require.True(t, heard.next(t).Lost)
	send(t, here, models.Ping{Runs: []string{"r"}})
	require.Equal(t, []string{"r"}, heard.next(t).Runs)
}

func TestSQLiteHasNobodyToTell(t *testing.T) {
	t.Parallel()
	db := modelstest.SQLite(t)
	heard := listen(t, db)
	send(t, db, models.Ping{Runs: []string{"r"}})
	require.Empty(t, heard)
}
