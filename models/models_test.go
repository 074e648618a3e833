package models_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"sluice/models"
	"sluice/models/modelstest"
)

func owner(t *testing.T, db *models.DB) models.User {
	t.Helper()
	u, created, err := db.Bootstrap(t.Context())
	require.NoError(t, err)
	require.True(t, created)
	return u
}

func TestMigratingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		applied, err := db.Migrate(t.Context())
		require.NoError(t, err)
		require.Empty(t, applied)
		require.NoError(t, db.Write(t.Context(), func(tx *gorm.DB) error {
			return tx.Exec("INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, 'later', 0)").Error
		}))
		_, err = db.Migrate(t.Context())
		require.ErrorContains(t, err, "use a newer one")
	})
}

func TestUnknownDatabasesAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{"mysql://x": "must begin with", "": "must begin with", "sqlite:": "names no file", "postgres://127.0.0.1:1/x": "reach PostgreSQL"} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := models.Open(ctx, url)
		cancel()
		require.ErrorContains(t, err, want, url)
	}
}

func TestATransactionIsRolledBackWhole(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u := owner(t, db)
		boom := errors.New("boom")
		err := db.Write(t.Context(), func(tx *gorm.DB) error {
			require.NoError(t, tx.Model(&models.User{}).Where("id = ?", u.ID).Update("name", "Changed").Error)
			return boom
		})
		require.ErrorIs(t, err, boom)
		again, err := db.User(t.Context(), u.AccountID, u.ID)
		require.NoError(t, err)
		require.Equal(t, "Owner", again.Name)
	})
}

func TestSignInLinksWorkOnce(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u := owner(t, db)
		first, err := db.CreateLoginToken(t.Context(), u, time.Hour)
		require.NoError(t, err)
		token, err := db.CreateLoginToken(t.Context(), u, time.Hour)
		require.NoError(t, err)
		_, err = db.UseLoginToken(t.Context(), first)
		require.ErrorIs(t, err, models.ErrNotFound, "a newer link ends the earlier one")
		fresh, err := db.NeverSignedIn(t.Context(), u)
		require.NoError(t, err)
		require.True(t, fresh)
		got, err := db.UseLoginToken(t.Context(), token)
		require.NoError(t, err)
		require.Equal(t, u.ID, got.ID)
		_, err = db.UseLoginToken(t.Context(), token)
		require.ErrorIs(t, err, models.ErrNotFound)
		late, err := db.CreateLoginToken(t.Context(), u, -time.Second)
		require.NoError(t, err)
		_, err = db.UseLoginToken(t.Context(), late)
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}

func TestDraftsAreGuardedByTheirRevision(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u := owner(t, db)
		w, err := db.CreateWorkflow(t.Context(), u.AccountID, models.Draft{Name: "A", Body: `{"b":1,"a":2}`, By: "Mai"})
		require.NoError(t, err)
		saved, err := db.SaveDraft(t.Context(), u.AccountID, w.ID, 1, models.Draft{Name: "B", Body: "{}", By: "Linh"})
		require.NoError(t, err)
		require.EqualValues(t, 2, saved.DraftRevision)
		_, err = db.SaveDraft(t.Context(), u.AccountID, w.ID, 1, models.Draft{Name: "C", Body: "{}", By: "Mai"})
		var stale *models.StaleError
		require.ErrorAs(t, err, &stale)
		require.Equal(t, "Linh", stale.UpdatedBy)
		_, err = db.SaveDraft(t.Context(), "someone-else", w.ID, 2, models.Draft{Name: "D"})
		require.ErrorIs(t, err, models.ErrNotFound)
		require.NoError(t, db.DeleteWorkflow(t.Context(), u.AccountID, w.ID))
		_, err = db.Workflow(t.Context(), u.AccountID, w.ID)
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}

func TestVersionsCountUpAndDraftVersionsAreShared(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u := owner(t, db)
		w, err := db.CreateWorkflow(t.Context(), u.AccountID, models.Draft{Name: "A", Body: "{}"})
		require.NoError(t, err)
		add := func(hash string, publish bool) models.WorkflowVersion {
			v, err := db.AddVersion(t.Context(), models.WorkflowVersion{AccountID: u.AccountID, WorkflowID: w.ID, Hash: hash}, "body "+hash, publish, 1)
			require.NoError(t, err)
			return v
		}
		draft := add("h1", false)
		require.Zero(t, draft.Version)
		require.Equal(t, draft.ID, add("h1", false).ID)
		require.Equal(t, 1, add("h1", true).Version)
		second := add("h2", true)
		require.Equal(t, 2, second.Version)
		require.Equal(t, second.ID, add("h2", true).ID, "publishing what is published changes nothing")
		require.Equal(t, 2, add("h2", false).Version, "a draft that is published already runs as that version")
		body, err := db.DefinitionBody(t.Context(), "h2")
		require.NoError(t, err)
		require.Equal(t, "body h2", body)
		_, err = db.AddVersion(t.Context(), models.WorkflowVersion{AccountID: u.AccountID, WorkflowID: w.ID, Hash: "h3"}, "x", true, 7)
		var stale *models.StaleError
		require.ErrorAs(t, err, &stale)
	})
}

func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := db.Sessions()
		require.NoError(t, s.CommitCtx(t.Context(), "a", []byte{0, 1, 255}, time.Now().Add(time.Hour)))
		require.NoError(t, s.CommitCtx(t.Context(), "b", []byte("x"), time.Now().Add(-time.Second)))
		data, found, err := s.FindCtx(t.Context(), "a")
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, []byte{0, 1, 255}, data)
		_, found, err = s.FindCtx(t.Context(), "b")
		require.NoError(t, err)
		require.False(t, found)
		require.NoError(t, s.DeleteCtx(t.Context(), "a"))
		_, found, err = s.FindCtx(t.Context(), "a")
		require.NoError(t, err)
		require.False(t, found)
	})
}

func TestAnOlderSpanNeverReplacesANewer(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		modelstest.Invented(db)
		u := owner(t, db)
		require.NoError(t, db.Write(t.Context(), func(tx *gorm.DB) error {
			return tx.Create(&models.Run{ID: "r", AccountID: u.AccountID, Status: "running", CreatedAt: models.Now()}).Error
		}))
		save := func(seq int64, body string) {
			require.NoError(t, db.SaveSpans(t.Context(), []models.Span{{RunID: "r", ID: "s", Seq: seq, AccountID: u.AccountID, Body: body}}))
		}
		save(5, "five")
		save(3, "three")
		spans, _, err := db.Spans(t.Context(), u.AccountID, "r", 0, 0)
		require.NoError(t, err)
		require.Equal(t, "five", spans[0].Body)
		spans, _, err = db.Spans(t.Context(), u.AccountID, "r", 5, 0)
		require.NoError(t, err)
		require.Empty(t, spans)
	})
}

func TestFoldFindsWhatPeopleType(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Đường Phố": "duong pho", "ＡＢＣ": "abc", "ﬁle": "file", "Ünïcode": "unicode", "が": "が", "退院": "退院", "STRASSE": "strasse", "  a \n b ": "a b", "قَهوَة": models.Fold("قَهوَة"),
	} {
		require.Equal(t, want, models.Fold(in), in)
	}
}
