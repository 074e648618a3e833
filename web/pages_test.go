package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/models"
	"sluice/models/modelstest"
	"sluice/web/app"
)

const echoDoc = `{"nodes":[{"id":"t","type":"trigger"},{"id":"e","type":"end"}],"edges":[{"source":"t","target":"e"}]}`

// everyPage are the pages of a person's account, with what they show of it.
func everyPage(s *site, name string) map[string]string {
	s.t.Helper()
	workflow := s.workflow(echoDoc, name)
	run := s.run(workflow)
	approval := s.approval(`{"title":` + quoted(name) + `,"body":` + quoted(name) + `,"content":` + quoted(name) + `}`)
	r, _, err := s.w.App.SaveRecipe(s.t.Context(), s.w.Principal(), app.RecipeDraft{Name: name, Description: name, Prompt: name, System: name, Notes: name})
	require.NoError(s.t, err)
	return map[string]string{
		"workflows": "/workflows", "builder": "/workflows/" + workflow, "runs": "/runs", "inspector": "/runs/" + run.ID,
		"approvals": "/approvals", "approval": "/approvals/" + approval, "recipes": "/recipes", "recipe": "/recipes/" + r.ID,
		"new recipe": "/recipes/new", "settings": "/settings",
	}
}

func TestPagesShowHostileNamesAsText(t *testing.T) {
	t.Parallel()
	for label, name := range map[string]string{
		"script":   `</textarea></title><script>alert(1)</script>" onload="alert(1)`,
		"Arabic":   "مراجعة المحتوى ‮ abc",
		"Japanese": "記事の確認",
		"long":     strings.Repeat("word ", engine.MaxName/5),
		"one word": strings.Repeat("x", engine.MaxName),
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			beginning := strings.Join(strings.Fields(name), " ")
			beginning = beginning[:min(len(beginning), 15)]
			for page, path := range everyPage(s, name) {
				a := s.get(path)
				require.Equal(t, 0, a.Find("script:not([src]), [onload], style, [style]").Length(), page)
				a.Find("script").Each(func(_ int, e *goquery.Selection) { require.Contains(t, e.AttrOr("src", ""), "/static/", page) })
				require.Equal(t, 1, a.Find("h1").Length(), page)
				if page != "settings" && page != "new recipe" {
					require.Contains(t, strings.Join(strings.Fields(a.Text()+a.Find("input").AttrOr("value", "")), " "), beginning, page)
				}
			}
		})
	}
}

func TestEmptyAccountHasPagesThatSayWhatToDo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, action := range map[string]string{
		"/workflows": "New workflow", "/runs": "Go to the workflows", "/recipes": "New recipe", "/approvals": "appear here by themselves",
		"/workflows?q=nothing": "Show all", "/runs?q=nothing": "Show all", "/approvals?q=nothing": "Nothing found", "/approvals?status=decided": "Nothing decided yet",
	} {
		require.Contains(t, s.get(path).Find(".empty").Text(), action, path)
	}
	require.Contains(t, s.get("/settings").Find("main").Text(), "v-test")
	require.Contains(t, s.get("/workflows").Find(".banner").Text(), "demo model")
}

func TestPagesNeedSomebody(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	nobody := s.stranger()
	for _, path := range everyPage(s, "Mine") {
		a := s.try(nobody, http.MethodGet, path, nil)
		require.Equal(t, http.StatusSeeOther, a.status, path)
		require.Equal(t, "/login", a.header.Get("Location"), path)
		a = s.try(nobody, http.MethodGet, path, nil, "HX-Request", "true")
		require.Equal(t, http.StatusUnauthorized, a.status, path)
		require.Equal(t, "/login", a.header.Get("HX-Redirect"), path)
	}
	for _, path := range []string{"/workflows", "/workflows/import", "/recipes", "/settings/tokens"} {
		require.Equal(t, http.StatusSeeOther, s.try(nobody, http.MethodPost, path, url.Values{"name": {"x"}}).status, path)
	}
	rows, _, err := s.w.DB.Recipes(t.Context(), models.RecipeQuery{AccountID: s.w.Owner.AccountID})
	require.NoError(t, err)
	require.Len(t, rows, 1)
}

func TestOtherAccountsAreNotFound(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	pages := everyPage(s, "Secret name")
	other := s.browser(s.otherUser())
	for _, page := range []string{"builder", "inspector", "approval", "recipe"} {
		a := s.try(other, http.MethodGet, pages[page], nil)
		require.Equal(t, http.StatusNotFound, a.status, page)
		require.NotContains(t, a.body, "Secret name", page)
	}
	for _, page := range []string{"workflows", "runs", "approvals", "recipes"} {
		a := s.try(other, http.MethodGet, pages[page], nil)
		require.Equal(t, http.StatusOK, a.status, page)
		require.NotContains(t, a.body, "Secret name", page)
	}
	for _, path := range []string{
		pages["builder"] + "/duplicate", pages["builder"] + "/delete", pages["approval"] + "/decisions", pages["recipe"],
	} {
		a := s.try(other, http.MethodPost, path, url.Values{"outcome": {"approve"}, "name": {"x"}, "prompt": {"x"}})
		require.Equal(t, http.StatusNotFound, a.status, path)
	}
	require.Equal(t, http.StatusNotFound, s.try(other, http.MethodGet, pages["builder"]+"/export", nil).status)
	s.get(pages["builder"])
	require.Nil(t, s.decision(strings.TrimPrefix(pages["approval"], "/approvals/")))
}

func TestHeadersKeepContentFromDoingHarm(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	nonce := regexp.MustCompile(`'nonce-([\w-]{22})'`)
	seen := map[string]bool{}
	for _, path := range everyPage(s, "Mine") {
		a := s.get(path)
		csp := a.header.Get("Content-Security-Policy")
		found := nonce.FindStringSubmatch(csp)
		require.Len(t, found, 2, csp)
		require.False(t, seen[found[1]], "a nonce is used once")
		seen[found[1]] = true
		a.Find("script").Each(func(_ int, e *goquery.Selection) { require.Equal(t, found[1], e.AttrOr("nonce", ""), path) })
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "style-src 'self';"} {
			require.Contains(t, csp, want)
		}
		require.NotContains(t, csp, "unsafe")
		require.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", a.header.Get("Referrer-Policy"))
		require.Equal(t, "no-store", a.header.Get("Cache-Control"))
	}
}

func TestRequestsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	form := url.Values{"name": {"Forged"}}
	a := s.try(s.client, http.MethodPost, "/workflows", form, "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, a.status)
	a = s.try(s.client, http.MethodPost, "/workflows", form, "Origin", "https://evil.example")
	require.Equal(t, http.StatusForbidden, a.status)
	a = s.try(s.client, http.MethodPost, "/workflows", form, "Sec-Fetch-Site", "same-origin")
	require.Equal(t, http.StatusSeeOther, a.status)
	require.Equal(t, 1, s.get("/workflows").Find("tbody tr").Length())
}

func TestErrorsArePagesOrFragments(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/nowhere", "/workflows/none", "/runs/none", "/approvals/none", "/recipes/none", "/recipes/none?version=x"} {
		a := s.try(s.client, http.MethodGet, path, nil)
		require.Equal(t, http.StatusNotFound, a.status, path)
		require.Equal(t, "Not found", a.Find("h1").Text(), path)
	}
	a := s.try(s.client, http.MethodGet, "/runs/none", nil, "HX-Request", "true")
	require.Equal(t, "#toasts", a.header.Get("HX-Retarget"))
	require.Equal(t, 0, a.Find("h1").Length())
	require.Equal(t, 1, a.Find(".toast[role=alert]").Length())
	a = s.try(s.client, http.MethodGet, "/runs?cursor=%21", nil)
	require.Equal(t, http.StatusBadRequest, a.status)
}

func TestCausesOfServerErrorsAreNotShown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	require.NoError(t, s.w.DB.Write(t.Context(), dropTable("recipe_versions")))
	require.NoError(t, s.w.DB.Write(t.Context(), dropTable("recipes")))
	a := s.try(s.client, http.MethodGet, "/recipes", nil)
	require.Equal(t, http.StatusInternalServerError, a.status)
	require.NotContains(t, a.body, "no such table")
	require.Contains(t, a.Find("main").Text(), a.header.Get("X-Request-Id"))
	require.Equal(t, http.StatusOK, s.try(s.client, http.MethodGet, "/readyz", nil).status)
}

func TestReadinessFollowsTheDatabase(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	require.Equal(t, http.StatusOK, s.try(s.stranger(), http.MethodGet, "/readyz", nil).status)
	require.NoError(t, s.w.DB.Write(t.Context(), dropTable("api_tokens")))
	require.Equal(t, http.StatusServiceUnavailable, s.try(s.stranger(), http.MethodGet, "/readyz", nil).status)
}

func TestListsArePagedAndKeepTheirFilters(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for i := range models.DefaultLimit + 2 {
		_, _, err := s.w.App.SaveRecipe(t.Context(), s.w.Principal(), app.RecipeDraft{Name: fmt.Sprintf("Recipe %02d", i), Prompt: "p"})
		require.NoError(t, err)
	}
	a := s.get("/recipes?q=recipe")
	require.Equal(t, models.DefaultLimit, a.Find("tbody tr").Length())
	more, ok := a.Find(".pager a").Attr("href")
	require.True(t, ok, "there is a way to the rest")
	require.Contains(t, more, "q=recipe")
	require.Equal(t, 2, s.get(more).Find("tbody tr").Length())

	workflow := s.workflow(echoDoc, "Many")
	for range models.DefaultLimit + 1 {
		_, _, err := s.w.App.Start(t.Context(), s.w.Principal(), app.StartRequest{WorkflowID: workflow})
		require.NoError(t, err)
	}
	first := s.get("/runs?workflow=" + workflow)
	more = first.Find(".pager a").AttrOr("href", "")
	second := s.get(more)
	require.Equal(t, 1, second.Find("tbody tr").Length())
	require.Contains(t, second.Find("#list").AttrOr("hx-get", ""), "cursor=", "a refresh stays on its part of the list")
	require.Equal(t, 0, s.get("/runs?status=failed").Find("tbody tr").Length())
}

func TestEveryRunIsUnderAStatus(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.run(s.workflow(echoDoc, "Mine"))
	modelstest.Invented(s.w.DB)
	require.NoError(t, s.w.DB.Write(t.Context(), setStatus(run.ID, "queued")))
	chips := s.get("/runs").Find(".chip").Text()
	require.Contains(t, strings.Join(strings.Fields(chips), " "), "Queued 1")
}

func TestBearerTokensOpenPagesAsTheirOwner(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.try(s.stranger(), http.MethodGet, "/settings", nil, "Authorization", "Bearer "+s.w.Token)
	require.Equal(t, http.StatusOK, a.status)
	a = s.try(s.stranger(), http.MethodGet, "/settings", nil, "Authorization", "Bearer wrong")
	require.Equal(t, http.StatusSeeOther, a.status)
}

func TestSignInLinksWorkOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token, err := s.w.DB.CreateLoginToken(t.Context(), s.w.Owner, time.Hour)
	require.NoError(t, err)
	path := "/login/" + token
	client := s.stranger()
	for range 2 {
		require.Equal(t, 1, s.try(client, http.MethodGet, path, nil).Find("form button").Length(), "opening the link does not use it")
	}
	require.Equal(t, http.StatusSeeOther, s.try(client, http.MethodGet, "/settings", nil).status)
	a := s.try(client, http.MethodPost, path, nil)
	require.Equal(t, "/workflows", a.header.Get("Location"))
	cookie := a.header.Get("Set-Cookie")
	for _, want := range []string{"sluice_session=", "HttpOnly", "SameSite=Lax"} {
		require.Contains(t, cookie, want)
	}
	require.Equal(t, http.StatusOK, s.try(client, http.MethodGet, "/settings", nil).status)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		a = s.try(s.stranger(), method, path, nil)
		require.Equal(t, http.StatusGone, a.status)
		require.Contains(t, a.Find("main").Text(), "sluice user login-link")
	}
	old, err := s.w.DB.CreateLoginToken(t.Context(), s.w.Owner, -time.Minute)
	require.NoError(t, err)
	require.Equal(t, http.StatusGone, s.try(s.stranger(), http.MethodPost, "/login/"+old, nil).status)

	require.Equal(t, "/login", s.try(client, http.MethodPost, "/logout", nil).header.Get("Location"))
	require.Equal(t, http.StatusSeeOther, s.try(client, http.MethodGet, "/settings", nil).status)
}
