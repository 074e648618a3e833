package page_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"

	"sluice/views/page"
)

func TestPagesOfNothingAreDrawn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]templ.Component{
		"workflows": page.WorkflowsPage(page.Workflows{Items: make([]page.WorkflowRow, 1)}),
		"import":    page.ImportPage(page.ImportResult{}),
		"builder":   page.BuilderPage(page.Host{}),
		"inspector": page.InspectorPage(page.Host{}),
		"runs":      page.RunsPage(page.Runs{Items: make([]page.RunRow, 1)}),
		"approvals": page.ApprovalsPage(page.Approvals{Items: make([]page.ApprovalRow, 1), Current: &page.Approval{}}),
		"pending":   page.ApprovalsPage(page.Approvals{Current: &page.Approval{Status: "pending", MayDecide: true, Editable: true, Fields: make([]page.ContentField, 1), Outcomes: make([]page.Outcome, 1)}}),
		"recipes":   page.RecipesPage(page.Recipes{Items: make([]page.RecipeRow, 1)}),
		"recipe":    page.RecipePage(page.Recipe{Versions: make([]page.RecipeVersionRow, 1)}),
		"settings":  page.SettingsPage(page.Settings{Tokens: make([]page.TokenRow, 1)}),
		"login":     page.Login(),
		"link":      page.LoginToken(false),
		"error":     page.Error(page.Problem{Issues: make([]page.Issue, 1)}),
		"fragment":  page.Fragment(page.Problem{}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, c.Render(t.Context(), io.Discard))
		})
	}
}

func TestTextsKeepTheLineEndsThatStandFirst(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", "\n", "\n\na", "a\n"} {
		c := page.ApprovalsPage(page.Approvals{Current: &page.Approval{Status: "pending", MayDecide: true, Editable: true, ContentIsText: true, Content: text}})
		var b strings.Builder
		require.NoError(t, c.Render(t.Context(), &b))
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(b.String()))
		require.NoError(t, err)
		require.Equal(t, text, doc.Find("#data").Text())
	}
}

func TestAddressesCarryTheFilters(t *testing.T) {
	t.Parallel()
	r := page.Runs{Status: "failed", Workflow: "w", Search: "a&b=c", Cursor: "here", Next: "there"}
	require.Equal(t, "/runs?q=a%26b%3Dc&status=running&workflow=w", r.ChipURL("running"))
	require.Equal(t, "/runs?cursor=there&q=a%26b%3Dc&status=failed&workflow=w", r.MoreURL())
	require.Equal(t, "/runs?cursor=here&q=a%26b%3Dc&status=failed&workflow=w", r.SelfURL())
	require.Equal(t, "/runs", page.Runs{}.SelfURL())
	a := page.Approvals{Status: "decided", Search: "x", Cursor: "here", Next: "there", Current: &page.Approval{ID: "1"}}
	require.Equal(t, "/approvals/2?q=x&status=decided", a.URL("2"))
	require.Equal(t, "/approvals/1?cursor=here&q=x&status=decided", a.SelfURL())
	require.Equal(t, "/approvals?cursor=there&q=x&status=decided", a.MoreURL())
	require.Equal(t, "/approvals", page.Approvals{Status: "pending"}.URL(""))
}

func TestRunsSayHowLongTheyTook(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(-time.Hour)
	require.Equal(t, "–", page.RunRow{}.Took())
	require.Equal(t, "1.5 s", page.RunRow{StartedAt: at, EndedAt: at.Add(1500 * time.Millisecond)}.Took())
	require.Equal(t, "1 h 00 min", page.RunRow{StartedAt: at}.Took())
	require.Equal(t, "12345678", page.RunRow{ID: "0012345678"}.Short())
	require.Equal(t, "v3", page.WorkflowRow{Published: 3}.Version())
	require.Equal(t, "Draft", page.WorkflowRow{}.Version())
}
