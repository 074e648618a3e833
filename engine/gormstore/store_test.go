package gormstore_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sluice/engine"
	"sluice/engine/enginetest"
	"sluice/engine/gormstore"
	"sluice/models"
	"sluice/models/modelstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// opened is a started store on a database with an account and a workflow, for runs
// that no engine works.
func opened(t testing.TB, db *models.DB) enginetest.Opened {
	t.Helper()
	modelstest.Invented(db)
	ctx := context.Background()
	owner, _, err := db.Bootstrap(ctx)
	require.NoError(t, err)
	w, err := db.CreateWorkflow(ctx, owner.AccountID, models.Draft{Name: "w", Body: "{}", By: "Mai"})
	require.NoError(t, err)
	v, err := db.AddVersion(ctx, models.WorkflowVersion{AccountID: owner.AccountID, WorkflowID: w.ID, Hash: "h"}, "{}", true, 1)
	require.NoError(t, err)
	s := gormstore.New(db, gormstore.Options{})
	require.NoError(t, s.Start(ctx))
	t.Cleanup(func() { require.NoError(t, s.Stop(context.Background())) })
	return enginetest.Opened{Store: s, AccountID: owner.AccountID, WorkflowID: w.ID, VersionID: v.ID, Hash: v.Hash}
}

func TestStoreOnSQLite(t *testing.T) {
	t.Parallel()
	enginetest.RunStore(t, func(t *testing.T) enginetest.Opened { return opened(t, modelstest.SQLite(t)) })
}

func TestStoreOnPostgres(t *testing.T) {
	t.Parallel()
	enginetest.RunStore(t, func(t *testing.T) enginetest.Opened { return opened(t, modelstest.Open(t, modelstest.PostgresURL(t))) })
}

func TestStoresOnOneDatabaseShareTheFences(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	url := modelstest.PostgresURL(t)
	o := opened(t, modelstest.Open(t, url))
	other := gormstore.New(modelstest.Open(t, url), gormstore.Options{})
	require.NoError(t, other.Start(ctx))
	t.Cleanup(func() { require.NoError(t, other.Stop(ctx)) })
	stores := []engine.Store{o.Store, other}

	for range 20 {
		created := make([]engine.Run, 2)
		errs := make([]error, 2)
		key := engine.NewID()
		var wg sync.WaitGroup
		for i, s := range stores {
			wg.Go(func() {
				created[i], _, errs[i] = s.CreateRun(ctx, engine.NewRun{Run: engine.Run{
					ID: engine.NewID(), AccountID: o.AccountID, WorkflowID: o.WorkflowID, VersionID: o.VersionID, DefinitionHash: o.Hash,
					Input: json.RawMessage(`{}`), IdempotencyKey: key, CreatedAt: time.Now(),
				}})
			})
		}
		wg.Wait()
		require.NoError(t, errs[0])
		require.NoError(t, errs[1])
		require.Equal(t, created[0].ID, created[1].ID, "one key, one run")

		claims := make([]error, 2)
		for i, s := range stores {
			wg.Go(func() { _, claims[i] = s.Claim(ctx, created[0].ID, "server", time.Minute) })
		}
		wg.Wait()
		if claims[0] == nil {
			require.ErrorIs(t, claims[1], engine.ErrNotRunnable)
		} else {
			require.ErrorIs(t, claims[0], engine.ErrNotRunnable)
			require.NoError(t, claims[1])
		}
	}
}

func TestARenamedPersonIsTheSamePerson(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := opened(t, db)
		run, _, err := o.Store.CreateRun(t.Context(), engine.NewRun{Run: engine.Run{
			ID: engine.NewID(), AccountID: o.AccountID, WorkflowID: o.WorkflowID, VersionID: o.VersionID, DefinitionHash: o.Hash, CreatedAt: time.Now(),
		}})
		require.NoError(t, err)
		snap, err := o.Store.Claim(t.Context(), run.ID, "me", time.Minute)
		require.NoError(t, err)
		p := engine.Park{ID: engine.NewID(), RunID: run.ID, Address: "ask", Kind: engine.ParkApproval, Approval: &engine.ApprovalRequest{Title: "Ok?"}, OpenedAt: time.Now()}
		_, err = o.Store.Commit(t.Context(), engine.Transition{
			RunID: run.ID, AccountID: o.AccountID, Epoch: snap.Run.Epoch, Status: engine.RunPendingApproval, At: time.Now(), OpenParks: []engine.Park{p},
			Records: []engine.Record{{Address: "ask", Status: engine.StepParked, ParkID: p.ID}},
		})
		require.NoError(t, err)
		answer := func(by engine.Actor, comment string) (engine.Answered, error) {
			return o.Store.Answer(t.Context(), engine.Answer{
				AccountID: o.AccountID, ParkID: p.ID, By: by, Outcome: "approve", Comment: comment, At: time.Now(),
				Resolve: func(engine.Park) (engine.Resolution, error) { return engine.Resolution{Outcome: "approve"}, nil },
			})
		}
		_, err = answer(engine.Actor{Kind: "user", ID: "1", Name: "Mai"}, "a\x00b")
		require.NoError(t, err)
		again, err := answer(engine.Actor{Kind: "user", ID: "1", Name: "Mai Nguyen"}, "a\x00b")
		require.NoError(t, err)
		require.True(t, again.Repeated)
		require.Equal(t, "Mai", again.Decision.By.Name)
		_, err = answer(engine.Actor{Kind: "user", ID: "2", Name: "Mai"}, "a\x00b")
		require.ErrorIs(t, err, engine.ErrConflict)
	})
}
