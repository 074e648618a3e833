package modelstest

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/models"
)

// invented are the databases whose rows tests have made up.
var invented sync.Map

// Invented tells that a test writes rows as no engine would, so that the invariants
// need not hold when it ends.
func Invented(db *models.DB) { invented.Store(db, true) }

// verify holds a database against the invariants.
func verify(t testing.TB, db *models.DB) {
	t.Helper()
	if _, ok := invented.LoadAndDelete(db); ok {
		return
	}
	broken, err := db.Verify(context.Background())
	require.NoError(t, err, "verify the database")
	require.Empty(t, broken, "the database breaks invariants")
}

// verifyURL does so with a database that other processes had open, if it has a schema.
func verifyURL(t testing.TB, databaseURL string) {
	t.Helper()
	db, err := models.Open(context.Background(), databaseURL)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	if db.Read(context.Background()).Migrator().HasTable("span_pages") {
		verify(t, db)
	}
}
