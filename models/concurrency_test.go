package models_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/models"
	"sluice/models/modelstest"
)

// together runs f n times at once and returns the errors by index.
func together(n int, f func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

func noErrors(t *testing.T, errs []error) {
	t.Helper()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

func TestServersThatStartTogetherMigrateOnce(t *testing.T) {
	t.Parallel()
	modelstest.EachURL(t, func(t *testing.T, databaseURL string) {
		var mu sync.Mutex
		applied := 0
		noErrors(t, together(4, func(int) error {
			db, err := models.Open(context.Background(), databaseURL)
			if err != nil {
				return err
			}
			done, err := db.Migrate(context.Background())
			mu.Lock()
			applied += len(done)
			mu.Unlock()
			if err != nil {
				_ = db.Close()
				return err
			}
			return db.Close()
		}))
		db := modelstest.Open(t, databaseURL)
		var rows int64
		require.NoError(t, db.Read(t.Context()).Table("schema_migrations").Count(&rows).Error)
		require.EqualValues(t, rows, applied)
	})
}

func TestVersionsMadeAtOnceAreNumberedOneByOne(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u := owner(t, db)
		w, err := db.CreateWorkflow(t.Context(), u.AccountID, models.Draft{Name: "A", Body: "{}"})
		require.NoError(t, err)
		add := func(hash string, publish bool) (models.WorkflowVersion, error) {
			return db.AddVersion(context.Background(), models.WorkflowVersion{AccountID: u.AccountID, WorkflowID: w.ID, Hash: hash}, "body", publish, 1)
		}
		drafts := make([]string, 20)
		noErrors(t, together(20, func(i int) error {
			v, err := add("draft", false)
			drafts[i] = v.ID
			return err
		}))
		for _, id := range drafts {
			require.Equal(t, drafts[0], id)
		}
		noErrors(t, together(20, func(i int) error {
			_, err := add("h"+strconv.Itoa(i), true)
			return err
		}))
		versions, err := db.Versions(t.Context(), u.AccountID, w.ID)
		require.NoError(t, err)
		require.Len(t, versions, 20)
		require.Equal(t, 20, versions[0].Version)
	})
}

func TestRecipesSavedAtOnceKeepEveryVersion(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u := owner(t, db)
		r, _, err := db.CreateRecipe(t.Context(), models.Recipe{AccountID: u.AccountID, Name: "r"}, models.RecipeVersion{Prompt: "0"})
		require.NoError(t, err)
		noErrors(t, together(20, func(i int) error {
			_, _, err := db.AddRecipeVersion(context.Background(), models.Recipe{ID: r.ID, AccountID: u.AccountID, Name: "r"}, models.RecipeVersion{Prompt: strconv.Itoa(i)})
			return err
		}))
		versions, err := db.RecipeVersions(t.Context(), u.AccountID, r.ID)
		require.NoError(t, err)
		require.Len(t, versions, 21)
		require.Equal(t, 21, versions[0].Version)
	})
}

func TestServersThatStartTogetherMakeOneOwner(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		noErrors(t, together(8, func(int) error {
			_, _, err := db.Bootstrap(context.Background())
			return err
		}))
		var owners int64
		require.NoError(t, db.Read(t.Context()).Model(&models.User{}).Count(&owners).Error)
		require.EqualValues(t, 1, owners)
	})
}
