package gormstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"sluice/models"
	"sluice/models/modelstest"
)

// notes is a store on a database with a table that the writes of these tests use.
func notes(t *testing.T, db *models.DB) *Store {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(tx *gorm.DB) error {
		return tx.Exec("CREATE TABLE notes (id BIGINT PRIMARY KEY)").Error
	}))
	return New(db, Options{})
}

func start(t *testing.T, s *Store) {
	t.Helper()
	require.NoError(t, s.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, s.Stop(context.Background())) })
}

func note(id int) func(context.Context, *batch) error {
	return func(ctx context.Context, b *batch) error {
		_, err := b.exec(ctx, "INSERT INTO notes (id) VALUES (?)", id)
		return err
	}
}

func noted(t *testing.T, s *Store) []int {
	t.Helper()
	var ids []int
	require.NoError(t, s.db.Read(t.Context()).Table("notes").Order("id").Pluck("id", &ids).Error)
	return ids
}

// together puts writes into one group: they wait while the first holds the store.
func together(t *testing.T, s *Store, applies ...func(context.Context, *batch) error) []error {
	t.Helper()
	errs := make([]error, len(applies))
	held, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = s.do(context.Background(), func(context.Context, *batch) error {
			close(held)
			<-release
			return nil
		})
	})
	<-held
	for i, apply := range applies {
		w := &write{apply: apply, result: make(chan error, 1)}
		require.NoError(t, s.send(t.Context(), w))
		wg.Go(func() { errs[i] = <-w.result })
	}
	close(release)
	wg.Wait()
	return errs
}

func TestAWriteThatFailsDoesNotSpoilItsGroup(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := notes(t, db)
		start(t, s)
		no, boom := errors.New("no"), errors.New("boom")
		errs := together(t, s,
			note(1),
			func(context.Context, *batch) error { return refusal{no} },
			note(2),
			note(1), // taken
			func(ctx context.Context, b *batch) error {
				if err := note(99)(ctx, b); err != nil {
					return err
				}
				return boom
			},
			func(context.Context, *batch) error { panic("ouch") },
			note(3),
		)
		require.NoError(t, errs[0])
		require.ErrorIs(t, errs[1], no)
		require.NoError(t, errs[2])
		require.Error(t, errs[3])
		require.ErrorIs(t, errs[4], boom)
		require.ErrorContains(t, errs[5], "ouch")
		require.NoError(t, errs[6])
		require.Equal(t, []int{1, 2, 3}, noted(t, s))
	})
}

func TestACommitOfUnknownOutcomeIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	db := modelstest.Open(t, modelstest.PostgresURL(t))
	s := notes(t, db)
	// This refuses at the commit, not before.
	for _, stmt := range []string{
		"CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'full'; END $$ LANGUAGE plpgsql",
		"CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.id = 13) EXECUTE FUNCTION refuse()",
	} {
		require.NoError(t, db.Write(t.Context(), func(tx *gorm.DB) error { return tx.Exec(stmt).Error }))
	}
	start(t, s)
	tries := 0
	errs := together(t, s, note(1), func(ctx context.Context, b *batch) error {
		tries++
		return note(13)(ctx, b)
	})
	require.Equal(t, 1, tries)
	for _, err := range errs {
		require.ErrorContains(t, err, "commit")
	}
	require.NoError(t, s.do(t.Context(), note(2)), "the store goes on")
	require.Equal(t, []int{2}, noted(t, s))
}

func TestWritesThatWaitForEachOtherInACircleAllHappen(t *testing.T) {
	t.Parallel()
	url := modelstest.PostgresURL(t)
	a := notes(t, modelstest.Open(t, url))
	b := New(modelstest.Open(t, url), Options{})
	start(t, a)
	start(t, b)
	require.NoError(t, a.do(t.Context(), note(1)))
	require.NoError(t, a.do(t.Context(), note(2)))
	lock := func(ctx context.Context, b *batch, id int) error {
		var got int
		return b.row(ctx, "SELECT id FROM notes WHERE id = ? FOR UPDATE", id).Scan(&got)
	}
	// Both hold one row before either asks for the other's, on their first try.
	var first sync.WaitGroup
	first.Add(2)
	crossing := func(x, y int) func(context.Context, *batch) error {
		var once sync.Once
		return func(ctx context.Context, b *batch) error {
			if err := lock(ctx, b, x); err != nil {
				return err
			}
			once.Do(func() { first.Done(); first.Wait() })
			return lock(ctx, b, y)
		}
	}
	errs := make(chan error, 2)
	go func() { errs <- a.do(context.Background(), crossing(1, 2)) }()
	go func() { errs <- b.do(context.Background(), crossing(2, 1)) }()
	require.NoError(t, <-errs)
	require.NoError(t, <-errs)
}

func TestStartAndStopInAnyOrder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := notes(t, modelstest.SQLite(t))
	require.ErrorIs(t, s.do(ctx, note(1)), errStopped, "not started")
	require.NoError(t, s.Start(ctx))
	require.NoError(t, s.Start(ctx))
	require.NoError(t, s.do(ctx, note(1)))
	require.NoError(t, s.Stop(ctx))
	require.NoError(t, s.Stop(ctx))
	require.ErrorIs(t, s.do(ctx, note(2)), errStopped)
	require.ErrorIs(t, s.Start(ctx), errStopped)
	never := notes(t, modelstest.SQLite(t))
	require.NoError(t, never.Stop(ctx))
}

func TestStopCommitsWhatWaits(t *testing.T) {
	t.Parallel()
	s := notes(t, modelstest.SQLite(t))
	require.NoError(t, s.Start(t.Context()))
	held, release := make(chan struct{}), make(chan struct{})
	hold := &write{result: make(chan error, 1), apply: func(context.Context, *batch) error {
		close(held)
		<-release
		return nil
	}}
	require.NoError(t, s.send(t.Context(), hold))
	<-held
	var waiting []*write
	for i := range 600 { // more than one group
		w := &write{apply: note(i), result: make(chan error, 1)}
		require.NoError(t, s.send(t.Context(), w))
		waiting = append(waiting, w)
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Stop(impatient), context.Canceled)
	close(release)
	require.NoError(t, s.Stop(context.Background()))
	for _, w := range waiting {
		require.NoError(t, <-w.result)
	}
	require.Len(t, noted(t, s), 600)
}

func TestACallerThatGoesAwayLeavesItsWriteToHappen(t *testing.T) {
	t.Parallel()
	s := notes(t, modelstest.SQLite(t))
	start(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, s.do(ctx, func(ctx context.Context, b *batch) error {
		cancel()
		return note(1)(ctx, b)
	}))
	require.Equal(t, []int{1}, noted(t, s))
}

func TestEveryGroupIsReported(t *testing.T) {
	t.Parallel()
	db := modelstest.SQLite(t)
	sizes := make(chan int, 10)
	s := notes(t, db)
	s.groups = func(size int, took time.Duration) {
		if took > 0 {
			sizes <- size
		}
	}
	start(t, s)
	together(t, s, note(1), note(2), note(3))
	require.Equal(t, 1, <-sizes)
	require.Equal(t, 3, <-sizes)
}

func TestPlaceholdersAreNumberedForPostgres(t *testing.T) {
	t.Parallel()
	pg, lite := newStatements(&models.DB{Dialect: models.Postgres}), newStatements(&models.DB{Dialect: models.SQLite})
	for query, want := range map[string]string{"": "", "?": "$1", "a ? b ?,?": "a $1 b $2,$3", "none": "none"} {
		require.Equal(t, want, pg.bind(query))
		require.Equal(t, want, pg.bind(query), "from the cache")
		require.Equal(t, query, lite.bind(query))
	}
	require.Contains(t, pg.bind(upsert(64)), fmt.Sprintf("$%d)", 64*recordWidth))
}
