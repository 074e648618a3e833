package models_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"sluice/models"
	"sluice/models/modelstest"
)

// stranger is a user of another account.
func stranger(t *testing.T, db *models.DB) models.User {
	t.Helper()
	u := models.User{ID: models.NewID(), AccountID: models.NewID(), Email: "x@example.org", Name: "X", Role: models.RoleOwner, CreatedAt: models.Now()}
	insert(t, db, &models.Account{ID: u.AccountID, Name: "Other", CreatedAt: models.Now()})
	insert(t, db, &u)
	return u
}

func insert(t *testing.T, db *models.DB, row any) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(tx *gorm.DB) error { return tx.Create(row).Error }))
}

func newWorkflow(t *testing.T, db *models.DB, accountID, name string) models.Workflow {
	t.Helper()
	w, err := db.CreateWorkflow(t.Context(), accountID, models.Draft{Name: name, Description: "about " + name, Body: "{}", By: "Mai"})
	require.NoError(t, err)
	return w
}

// day is the first of a row of instants that differ by seconds.
func day(i int) models.Time {
	return models.At(time.Date(2026, 5, 4, 3, 2, i, 0, time.UTC))
}

func newRun(t *testing.T, db *models.DB, w models.Workflow, status string, at models.Time) models.Run {
	t.Helper()
	modelstest.Invented(db)
	r := models.Run{ID: models.NewID(), AccountID: w.AccountID, WorkflowID: w.ID, Status: status, Input: "secret", CreatedAt: at}
	insert(t, db, &r)
	return r
}

// newApproval stores an approval with its park.
func newApproval(t *testing.T, db *models.DB, r models.Run, title, status string, at models.Time) models.Approval {
	t.Helper()
	a := models.Approval{
		ID: models.NewID(), AccountID: r.AccountID, RunID: r.ID, WorkflowID: r.WorkflowID, Kind: "approval", Title: title, Status: status,
		Search: models.ApprovalSearch(title), OpenedAt: at,
	}
	require.NoError(t, db.Write(t.Context(), func(tx *gorm.DB) error {
		if err := tx.Exec("INSERT INTO parks (id, account_id, run_id, address, round, node_id, kind, status, body, reason, opened_at) VALUES (?,?,?,'a',0,'a','approval','open','{}','',?)",
			a.ID, a.AccountID, a.RunID, a.OpenedAt).Error; err != nil {
			return err
		}
		return tx.Create(&a).Error
	}))
	return a
}

// pages walks a list to its end, two rows at a time.
func pages[T any](t *testing.T, list func(cursor string) ([]T, string, error)) (rows []T, sizes []int) {
	t.Helper()
	cursor := ""
	for {
		page, next, err := list(cursor)
		require.NoError(t, err)
		rows, sizes = append(rows, page...), append(sizes, len(page))
		if cursor = next; cursor == "" {
			return rows, sizes
		}
	}
}

func names[T any](rows []T, name func(T) string) []string {
	out := []string{}
	for _, r := range rows {
		out = append(out, name(r))
	}
	return out
}

func TestWorkflowsAreFoundHoweverTheyAreTyped(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u := owner(t, db)
		for _, name := range []string{"Duyệt Đơn Hàng", "注文の承認", "ＡＰＩ 監視", "50% off_sale", `back\slash`, "Crème brûlée"} {
			newWorkflow(t, db, u.AccountID, name)
		}
		newWorkflow(t, db, stranger(t, db).AccountID, "Crème of another account")
		for query, want := range map[string][]string{
			"duyet don": {"Duyệt Đơn Hàng"}, "HÀNG": {"Duyệt Đơn Hàng"}, "承": {"注文の承認"}, "api": {"ＡＰＩ 監視"}, "ａｐｉ 監視": {"ＡＰＩ 監視"},
			"50%": {"50% off_sale"}, "%": {"50% off_sale"}, "_": {"50% off_sale"}, `\`: {`back\slash`}, "brulee creme": {"Crème brûlée"}, "nothing": {},
		} {
			rows, _, err := db.Workflows(t.Context(), models.WorkflowQuery{AccountID: u.AccountID, Search: query})
			require.NoError(t, err)
			require.Equal(t, want, names(rows, func(w models.WorkflowItem) string { return w.Name }), query)
		}
	})
}

func TestWorkflowsShowTheirLastRun(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u := owner(t, db)
		a, b := newWorkflow(t, db, u.AccountID, "a"), newWorkflow(t, db, u.AccountID, "b")
		never := newWorkflow(t, db, u.AccountID, "never")
		newRun(t, db, a, "failed", day(1))
		lastA := newRun(t, db, a, "succeeded", day(3))
		lastB := newRun(t, db, b, "running", day(2))
		rows, next, err := db.Workflows(t.Context(), models.WorkflowQuery{AccountID: u.AccountID})
		require.NoError(t, err)
		require.Empty(t, next)
		got := map[string]string{}
		for _, w := range rows {
			got[w.ID] = w.LastRunID + " " + w.LastRunStatus
			require.Empty(t, w.Draft, "lists carry no definitions")
		}
		require.Equal(t, map[string]string{a.ID: lastA.ID + " succeeded", b.ID: lastB.ID + " running", never.ID: " "}, got)
	})
}

func TestListsGoOnWhereTheyStopped(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u := owner(t, db)
		w := newWorkflow(t, db, u.AccountID, "w")
		for i := range 5 {
			newRun(t, db, w, "queued", day(i/2)) // pairs share their time
			_, _, err := db.CreateRecipe(t.Context(), models.Recipe{AccountID: u.AccountID, Name: fmt.Sprint("r", i)}, models.RecipeVersion{})
			require.NoError(t, err)
			if i > 0 {
				newWorkflow(t, db, u.AccountID, fmt.Sprint("w", i))
			}
		}
		runs, sizes := pages(t, func(c string) ([]models.RunItem, string, error) {
			return db.Runs(t.Context(), models.RunQuery{AccountID: u.AccountID, Cursor: c, Limit: 2})
		})
		require.Equal(t, []int{2, 2, 1}, sizes)
		for i := 1; i < len(runs); i++ {
			require.False(t, runs[i].CreatedAt.After(runs[i-1].CreatedAt.Time), "newest first")
			require.NotEqual(t, runs[i-1].ID, runs[i].ID)
			require.Empty(t, runs[i].Input)
		}
		for _, r := range runs {
			newApproval(t, db, r.Run, "a", "pending", r.CreatedAt)
		}
		approvals, sizes := pages(t, func(c string) ([]models.ApprovalItem, string, error) {
			return db.Approvals(t.Context(), models.ApprovalQuery{AccountID: u.AccountID, Status: "pending", Cursor: c, Limit: 2})
		})
		require.Equal(t, []int{2, 2, 1}, sizes)
		require.Equal(t, "w", approvals[0].WorkflowName)
		workflows, _ := pages(t, func(c string) ([]models.WorkflowItem, string, error) {
			return db.Workflows(t.Context(), models.WorkflowQuery{AccountID: u.AccountID, Cursor: c, Limit: 2})
		})
		require.Equal(t, []string{"w4", "w3", "w2", "w1", "w"}, names(workflows, func(w models.WorkflowItem) string { return w.Name }))
		recipes, _ := pages(t, func(c string) ([]models.Recipe, string, error) {
			return db.Recipes(t.Context(), models.RecipeQuery{AccountID: u.AccountID, Cursor: c, Limit: 2})
		})
		require.Equal(t, []string{"r4", "r3", "r2", "r1", "r0"}, names(recipes, func(r models.Recipe) string { return r.Name }))
	})
}

func TestRunsAreFilteredAndCounted(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u := owner(t, db)
		a, b := newWorkflow(t, db, u.AccountID, "Đơn hàng"), newWorkflow(t, db, u.AccountID, "Support")
		failed := newRun(t, db, a, "failed", day(3))
		running := newRun(t, db, a, "running", day(2))
		done := newRun(t, db, b, "succeeded", day(1))
		newRun(t, db, newWorkflow(t, db, stranger(t, db).AccountID, "Đơn hàng"), "failed", day(1))
		for name, c := range map[string]struct {
			q    models.RunQuery
			want []string
		}{
			"all":            {models.RunQuery{}, []string{failed.ID, running.ID, done.ID}},
			"statuses":       {models.RunQuery{Statuses: []string{"failed", "succeeded"}}, []string{failed.ID, done.ID}},
			"workflow":       {models.RunQuery{WorkflowID: b.ID}, []string{done.ID}},
			"workflow name":  {models.RunQuery{Search: "don hang"}, []string{failed.ID, running.ID}},
			"start of an id": {models.RunQuery{Search: running.ID[:30]}, []string{running.ID}},
			"end of an id":   {models.RunQuery{Search: running.ID[20:]}, []string{}},
			"both":           {models.RunQuery{Search: "don", Statuses: []string{"running"}}, []string{running.ID}},
		} {
			c.q.AccountID = u.AccountID
			rows, _, err := db.Runs(t.Context(), c.q)
			require.NoError(t, err, name)
			require.ElementsMatch(t, c.want, names(rows, func(r models.RunItem) string { return r.ID }), name)
		}
		counts, err := db.RunCounts(t.Context(), models.RunQuery{AccountID: u.AccountID, Search: "hàng"})
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"failed": 1, "running": 1}, counts)
	})
}

func TestRunsAwaitWorkOrRest(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		modelstest.Invented(db)
		w := newWorkflow(t, db, owner(t, db).AccountID, "w")
		for _, c := range []struct {
			status string
			wake   time.Duration
			want   bool
		}{
			{"queued", 0, true},
			{"running", 0, true},
			{"waiting", -time.Second, true},
			{"waiting", time.Hour, false},
			{"waiting", 0, false},
			{"pending_approval", -time.Second, true},
			{"pending_approval", 0, false},
			{"succeeded", 0, false},
			{"cancelled", -time.Second, false},
		} {
			r := models.Run{ID: models.NewID(), AccountID: w.AccountID, WorkflowID: w.ID, Status: c.status, CreatedAt: models.Now()}
			if c.wake != 0 {
				r.WakeAt = models.At(time.Now().Add(c.wake))
			}
			insert(t, db, &r)
			got, err := db.RunAwaitsWork(t.Context(), r.ID)
			require.NoError(t, err)
			require.Equal(t, c.want, got, "%+v", c)
		}
		got, err := db.RunAwaitsWork(t.Context(), "gone")
		require.NoError(t, err)
		require.False(t, got)
	})
}

func TestTheInboxShowsWhatIsOpenAndWhatWasDecided(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u := owner(t, db)
		r := newRun(t, db, newWorkflow(t, db, u.AccountID, "Orders"), "pending_approval", day(0))
		other := newRun(t, db, newWorkflow(t, db, stranger(t, db).AccountID, "Orders"), "pending_approval", day(0))
		open := newApproval(t, db, r, "Xác nhận đơn", "pending", day(1))
		decided := newApproval(t, db, r, "Refund", "decided", day(2))
		closed := newApproval(t, db, r, "Old", "closed", day(3))
		foreign := newApproval(t, db, other, "Xác nhận đơn", "pending", day(1))
		insert(t, db, &models.Decision{ParkID: decided.ID, AccountID: u.AccountID, Actor: `{"kind":"user","name":"Mai"}`, Outcome: "approve", CreatedAt: models.Now()})
		for name, c := range map[string]struct {
			q    models.ApprovalQuery
			want []string
		}{
			"pending":      {models.ApprovalQuery{Status: "pending"}, []string{open.ID}},
			"decided":      {models.ApprovalQuery{Status: "decided"}, []string{closed.ID, decided.ID}},
			"all":          {models.ApprovalQuery{}, []string{closed.ID, decided.ID, open.ID}},
			"search":       {models.ApprovalQuery{Search: "xac NHAN"}, []string{open.ID}},
			"run":          {models.ApprovalQuery{RunID: r.ID, Status: "pending"}, []string{open.ID}},
			"another run":  {models.ApprovalQuery{RunID: other.ID}, []string{}},
			"unknown word": {models.ApprovalQuery{Search: "zzz"}, []string{}},
		} {
			c.q.AccountID = u.AccountID
			rows, _, err := db.Approvals(t.Context(), c.q)
			require.NoError(t, err, name)
			require.Equal(t, c.want, names(rows, func(a models.ApprovalItem) string { return a.ID }), name)
		}
		got, err := db.Approval(t.Context(), u.AccountID, decided.ID)
		require.NoError(t, err)
		require.Equal(t, "approve", got.Decision.Outcome)
		require.Equal(t, "Orders", got.WorkflowName)
		_, err = db.Approval(t.Context(), u.AccountID, foreign.ID)
		require.ErrorIs(t, err, models.ErrNotFound)
		n, err := db.PendingApprovals(t.Context(), u.AccountID)
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
	})
}

func TestStrangersFindNothing(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u, x := owner(t, db), stranger(t, db)
		w := newWorkflow(t, db, u.AccountID, "w")
		v, err := db.AddVersion(t.Context(), models.WorkflowVersion{AccountID: u.AccountID, WorkflowID: w.ID, Hash: "h"}, "{}", true, 1)
		require.NoError(t, err)
		r := newRun(t, db, w, "queued", day(0))
		recipe, _, err := db.CreateRecipe(t.Context(), models.Recipe{AccountID: u.AccountID, Name: "recipe"}, models.RecipeVersion{})
		require.NoError(t, err)
		token, _, err := db.CreateAPIToken(t.Context(), u, "token")
		require.NoError(t, err)
		ctx, account := t.Context(), x.AccountID
		for name, err := range map[string]error{
			"workflow":   second(db.Workflow(ctx, account, w.ID)),
			"save":       second(db.SaveDraft(ctx, account, w.ID, 1, models.Draft{Name: "stolen"})),
			"delete":     db.DeleteWorkflow(ctx, account, w.ID),
			"publish":    second(db.AddVersion(ctx, models.WorkflowVersion{AccountID: account, WorkflowID: w.ID, Hash: "x"}, "{}", true, 1)),
			"version":    second(db.Version(ctx, account, w.ID, 1)),
			"version id": second(db.VersionByID(ctx, account, v.ID)),
			"run":        second(db.Run(ctx, account, r.ID)),
			"steps":      third(db.Steps(ctx, account, r.ID, "", 0)),
			"recipe":     second(db.Recipe(ctx, account, recipe.ID)),
			"by name":    second(db.Recipe(ctx, account, "recipe")),
			"user":       second(db.User(ctx, account, u.ID)),
			"token":      db.DeleteAPIToken(ctx, account, token.ID),
		} {
			require.ErrorIs(t, err, models.ErrNotFound, name)
		}
		_, _, err = db.AddRecipeVersion(ctx, models.Recipe{ID: recipe.ID, AccountID: account, Name: "stolen"}, models.RecipeVersion{})
		require.ErrorIs(t, err, models.ErrNotFound)
		versions, err := db.Versions(ctx, account, w.ID)
		require.NoError(t, err)
		require.Empty(t, versions)
		tokens, err := db.APITokens(ctx, account)
		require.NoError(t, err)
		require.Empty(t, tokens)
	})
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }

func TestRecipesHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u, ctx := owner(t, db), t.Context()
		a, v1, err := db.CreateRecipe(ctx, models.Recipe{AccountID: u.AccountID, Name: "a"}, models.RecipeVersion{Prompt: "one"})
		require.NoError(t, err)
		require.Equal(t, 1, v1.Version)
		_, _, err = db.CreateRecipe(ctx, models.Recipe{AccountID: u.AccountID, Name: "a"}, models.RecipeVersion{})
		require.ErrorIs(t, err, models.ErrNameTaken)
		b, _, err := db.CreateRecipe(ctx, models.Recipe{AccountID: u.AccountID, Name: a.ID}, models.RecipeVersion{})
		require.NoError(t, err)
		_, _, err = db.AddRecipeVersion(ctx, models.Recipe{ID: b.ID, AccountID: u.AccountID, Name: "a"}, models.RecipeVersion{})
		require.ErrorIs(t, err, models.ErrNameTaken)
		byID, err := db.Recipe(ctx, u.AccountID, a.ID)
		require.NoError(t, err)
		require.Equal(t, a.ID, byID.ID, "an id comes before a name")
		a.Name = "renamed"
		a, _, err = db.AddRecipeVersion(ctx, a, models.RecipeVersion{Prompt: "two"})
		require.NoError(t, err)
		for version, want := range map[int]string{0: "two", 1: "one", 2: "two"} {
			v, err := db.RecipeVersion(ctx, a, version)
			require.NoError(t, err)
			require.Equal(t, want, v.Prompt)
		}
		_, err = db.RecipeVersion(ctx, a, 3)
		require.ErrorIs(t, err, models.ErrNotFound)
		_, _, err = db.CreateRecipe(ctx, models.Recipe{AccountID: stranger(t, db).AccountID, Name: "renamed"}, models.RecipeVersion{})
		require.NoError(t, err, "names are per account")
	})
}

func TestTokensActForTheirUser(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		u, ctx := owner(t, db), t.Context()
		token, text, err := db.CreateAPIToken(ctx, u, "ci")
		require.NoError(t, err)
		require.NotContains(t, token.Hash, text)
		got, found, err := db.UserByAPIToken(ctx, text)
		require.NoError(t, err)
		require.Equal(t, u.ID, got.ID)
		require.True(t, found.LastUsedAt.IsZero())
		require.NoError(t, db.TouchAPIToken(ctx, token.ID))
		_, found, err = db.UserByAPIToken(ctx, text)
		require.NoError(t, err)
		require.False(t, found.LastUsedAt.IsZero())
		for range 2 {
			require.NoError(t, db.EnsureAPIToken(ctx, u, "bootstrap", "slt_given"))
		}
		tokens, err := db.APITokens(ctx, u.AccountID)
		require.NoError(t, err)
		require.Len(t, tokens, 2)
		require.NoError(t, db.DeleteAPIToken(ctx, u.AccountID, token.ID))
		_, _, err = db.UserByAPIToken(ctx, text)
		require.ErrorIs(t, err, models.ErrNotFound)
	})
}

func TestSpansOfLostRunsAndOldVersionsAreLeftOut(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		r := newRun(t, db, newWorkflow(t, db, owner(t, db).AccountID, "w"), "running", day(0))
		spans := []models.Span{{RunID: "gone", ID: "s", Seq: 1, Body: "lost"}}
		for i := range 500 {
			spans = append(spans, models.Span{RunID: r.ID, ID: fmt.Sprint("s", i%250), Seq: int64(i + 1), AccountID: r.AccountID, Body: strconv.Itoa(i)})
		}
		require.NoError(t, db.SaveSpans(t.Context(), spans))
		got, _, err := db.Spans(t.Context(), r.AccountID, r.ID, 0, 0)
		require.NoError(t, err)
		require.Len(t, got, 250)
		require.Equal(t, "250", got[0].Body, "the later of two versions")
		require.NoError(t, db.SaveSpans(t.Context(), spans[:1]))
	})
}
