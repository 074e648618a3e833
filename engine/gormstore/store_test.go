package gormstore_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine/enginetest"
	"sluice/engine/gormstore"
	"sluice/models"
	"sluice/models/modelstest"
)

// opened is a started store on a database with an account and a workflow.
func opened(t testing.TB, db *models.DB) enginetest.Opened {
	t.Helper()
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
