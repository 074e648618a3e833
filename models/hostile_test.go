package models_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/models"
	"sluice/models/modelstest"
)

// hostile is text that PostgreSQL can't keep: NUL and broken UTF-8.
const hostile = "a\x00b\xffc"

func TestHostileNamesAreKeptAlikeOnBothDatabases(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u := owner(t, db)
		const kept = "a\uFFFDb\uFFFDc"
		w, err := db.CreateWorkflow(t.Context(), u.AccountID, models.Draft{Name: hostile, Description: hostile, Body: "{}", By: hostile})
		require.NoError(t, err)
		_, err = db.SaveDraft(t.Context(), u.AccountID, w.ID, 1, models.Draft{Name: hostile, Description: hostile, Body: "{}", By: hostile})
		require.NoError(t, err)
		w, err = db.Workflow(t.Context(), u.AccountID, w.ID)
		require.NoError(t, err)
		require.Equal(t, []string{kept, kept, kept}, []string{w.Name, w.Description, w.UpdatedBy})

		v, err := db.AddVersion(t.Context(), models.WorkflowVersion{AccountID: u.AccountID, WorkflowID: w.ID, Hash: "h", Notes: hostile, CreatedBy: hostile}, "{}", true, 2)
		require.NoError(t, err)
		require.Equal(t, kept, v.Notes)

		r, rv, err := db.CreateRecipe(t.Context(), models.Recipe{AccountID: u.AccountID, Name: hostile}, models.RecipeVersion{System: hostile, Prompt: hostile, Model: hostile})
		require.NoError(t, err)
		require.Equal(t, []string{kept, kept, kept, kept}, []string{r.Name, rv.System, rv.Prompt, rv.Model})
		_, rv, err = db.AddRecipeVersion(t.Context(), models.Recipe{ID: r.ID, AccountID: u.AccountID, Name: hostile, Description: hostile}, models.RecipeVersion{Prompt: hostile})
		require.NoError(t, err)
		require.Equal(t, kept, rv.Prompt)

		token, _, err := db.CreateAPIToken(t.Context(), u, hostile)
		require.NoError(t, err)
		require.Equal(t, kept, token.Name)
		require.NoError(t, db.AddAudit(t.Context(), models.AuditEvent{AccountID: u.AccountID, Actor: hostile, Action: "x", Subject: hostile, Detail: hostile}))
	})
}

func TestHostileSearchesAndIDsFindNothing(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		account := owner(t, db).AccountID
		ctx := t.Context()
		for name, get := range map[string]func(id string) error{
			"workflow":         func(id string) error { _, err := db.Workflow(ctx, account, id); return err },
			"run":              func(id string) error { _, err := db.Run(ctx, account, id); return err },
			"steps":            func(id string) error { _, _, err := db.Steps(ctx, account, id, "", 0); return err },
			"approval":         func(id string) error { _, err := db.Approval(ctx, account, id); return err },
			"recipe":           func(id string) error { _, err := db.Recipe(ctx, account, id); return err },
			"version":          func(id string) error { _, err := db.Version(ctx, account, id, 1); return err },
			"version by id":    func(id string) error { _, err := db.VersionByID(ctx, account, id); return err },
			"definition":       func(id string) error { _, err := db.DefinitionBody(ctx, id); return err },
			"user":             func(id string) error { _, err := db.User(ctx, account, id); return err },
			"user by email":    func(id string) error { _, err := db.UserByEmail(ctx, id); return err },
			"api token":        func(id string) error { _, _, err := db.UserByAPIToken(ctx, id); return err },
			"login token":      func(id string) error { _, err := db.UseLoginToken(ctx, id); return err },
			"delete workflow":  func(id string) error { return db.DeleteWorkflow(ctx, account, id) },
			"delete api token": func(id string) error { return db.DeleteAPIToken(ctx, account, id) },
			"save draft": func(id string) error {
				_, err := db.SaveDraft(ctx, account, id, 1, models.Draft{})
				return err
			},
		} {
			for _, id := range []string{hostile, "\x00", "\xc3", "' OR 1=1 --"} {
				err := get(id)
				require.ErrorIs(t, err, models.ErrNotFound, "%s %q", name, id)
			}
		}
		for _, q := range []string{hostile, "\x00", "\xff", "%", "_", `\`, "' OR 1=1 --"} {
			_, _, err := db.Workflows(ctx, models.WorkflowQuery{AccountID: account, Search: q})
			require.NoError(t, err, "%q", q)
			_, _, err = db.Runs(ctx, models.RunQuery{AccountID: account, Search: q})
			require.NoError(t, err, "%q", q)
			_, err = db.RunCounts(ctx, models.RunQuery{AccountID: account, Search: q})
			require.NoError(t, err, "%q", q)
			_, _, err = db.Approvals(ctx, models.ApprovalQuery{AccountID: account, Search: q})
			require.NoError(t, err, "%q", q)
			_, _, err = db.Recipes(ctx, models.RecipeQuery{AccountID: account, Search: q})
			require.NoError(t, err, "%q", q)
		}
		_, _, err := db.Runs(ctx, models.RunQuery{AccountID: account, WorkflowID: hostile, Statuses: []string{hostile}})
		require.True(t, err == nil || errors.Is(err, models.ErrNotFound), "%v", err)
		for _, cursor := range []string{"x", "\x00", "MTIzIAD_", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5IGE"} {
			_, _, err := db.Runs(ctx, models.RunQuery{AccountID: account, Cursor: cursor})
			require.ErrorIs(t, err, models.ErrCursor, "%q", cursor)
		}
	})
}
