package web_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/models"
)

func TestWorkflowsAreMadeCopiedAndDeleted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	at := s.post(http.StatusSeeOther, "/workflows", url.Values{"name": {"  Blank  "}}).header.Get("Location")
	page := s.get(at)
	require.Equal(t, strings.TrimPrefix(at, "/workflows/"), page.Find("#builder").AttrOr("data-workflow-id", ""))
	require.Equal(t, 1, page.Find("noscript").Length())

	slug := s.get("/workflows").Find("button[name=example]").First().AttrOr("value", "")
	require.NotEmpty(t, slug)
	s.post(http.StatusSeeOther, "/workflows", url.Values{"example": {slug}})
	s.post(http.StatusNotFound, "/workflows", url.Values{"example": {"none"}})

	s.post(http.StatusSeeOther, at+"/duplicate", nil)
	list := s.get("/workflows")
	require.Equal(t, 3, list.Find("tbody tr").Length())
	require.Contains(t, list.Find(".row-link").Text(), "Blank (copy)")
	require.Contains(t, list.Find(".toast").Text(), "Copied as")
	require.Equal(t, 0, s.get("/workflows").Find(".toast").Length(), "a message is shown once")

	require.Contains(t, s.get(at+"/export").header.Get("Content-Disposition"), "attachment")
	s.post(http.StatusSeeOther, at+"/delete", nil)
	require.Equal(t, 2, s.get("/workflows").Find("tbody tr").Length())
	require.Equal(t, http.StatusNotFound, s.try(s.client, http.MethodGet, at, nil).status)
}

// upload sends a file and a text to the import.
func (s *site) upload(file, text string) answer {
	s.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", "w.json")
	require.NoError(s.t, err)
	_, err = part.Write([]byte(file))
	require.NoError(s.t, err)
	require.NoError(s.t, w.WriteField("text", text))
	require.NoError(s.t, w.Close())
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/workflows/import", &b)
	require.NoError(s.t, err)
	req.Header.Set("Content-Type", w.FormDataContentType())
	return s.send(s.client, req)
}

func TestImportTakesFilesAndTexts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	require.Equal(t, http.StatusSeeOther, s.upload(echoDoc, "").status)
	require.Equal(t, http.StatusSeeOther, s.upload("", echoDoc).status)
	flawed := s.upload(`{"nodes":[{"id":"x","type":"no-such-type"}],"edges":[]}`, "")
	require.Equal(t, http.StatusOK, flawed.status)
	require.Contains(t, flawed.Find("main").Text(), "no-such-type")
	require.Equal(t, 1, flawed.Find("a.btn-primary[href^='/workflows/']").Length())
	broken := s.upload("", "not a <b>workflow</b>")
	require.Equal(t, http.StatusUnprocessableEntity, broken.status)
	require.Equal(t, "not a <b>workflow</b>", broken.Find("textarea").Text(), "nothing that was pasted is lost")
	require.Equal(t, http.StatusRequestEntityTooLarge, s.upload(strings.Repeat(" ", 17<<20), "").status)
}

func recipeForm(pairs ...string) url.Values {
	v := url.Values{"name": {"Summary"}, "prompt": {"Sum up {{text}}"}}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

func TestRecipeMistakesAreShownAtTheirFields(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.post(http.StatusSeeOther, "/recipes", recipeForm("name", "Taken"))
	for name, test := range map[string]struct{ field, value string }{
		"no name":            {"name", " "},
		"name taken":         {"name", "Taken"},
		"no prompt":          {"prompt", ""},
		"broken template":    {"prompt", "{{ a + }}"},
		"schema is not JSON": {"output_schema", `{"type":`},
		"schema is none":     {"input_schema", `{"type":"no-such-type"}`},
		"warm word":          {"temperature", "warm"},
		"smuggled field":     {"temperature", `1,"max_tokens":5`},
		"part of a token":    {"max_tokens", "1.5"},
		"negative tokens":    {"max_tokens", "-1"},
	} {
		t.Run(name, func(t *testing.T) {
			v := recipeForm(test.field, test.value, "system", "kept <b>")
			a := s.post(http.StatusUnprocessableEntity, "/recipes", v)
			require.Equal(t, 1, a.Find("[aria-invalid=true]").Length())
			field := a.Find("#" + test.field)
			require.Equal(t, "true", field.AttrOr("aria-invalid", ""))
			require.NotEmpty(t, a.Find("#"+field.AttrOr("aria-describedby", "none")).Text())
			require.Equal(t, "kept <b>", a.Find("#system").Text(), "nothing that was typed is lost")
			require.Equal(t, test.value, field.AttrOr("value", field.Text()))
		})
	}
}

func TestRecipeVersionsStay(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	at := s.post(http.StatusSeeOther, "/recipes", recipeForm("prompt", "one\r\ntwo", "temperature", "0", "max_tokens", "100", "output_schema", `{"type": "object"}`)).header.Get("Location")
	page := s.get(at)
	require.Equal(t, "0", page.Find("#temperature").AttrOr("value", ""))
	require.Equal(t, "100", page.Find("#max_tokens").AttrOr("value", ""))
	rows, err := s.w.DB.RecipeVersions(t.Context(), s.w.Owner.AccountID, strings.TrimPrefix(at, "/recipes/"))
	require.NoError(t, err)
	require.Equal(t, "one\ntwo", rows[0].Prompt, "line ends are as people mean them")

	s.post(http.StatusSeeOther, at, recipeForm("prompt", "second", "notes", "Better"))
	page = s.get(at)
	require.Equal(t, "second", page.Find("#prompt").Text())
	require.Empty(t, page.Find("#notes").AttrOr("value", ""), "a note belongs to one version")
	require.Equal(t, 2, page.Find("aside a").Length())
	old := s.get(at + "?version=1")
	require.Equal(t, "one\ntwo", old.Find("#prompt").Text())
	require.Contains(t, old.Find(".notice").Text(), "This is version 1")
	require.Equal(t, http.StatusNotFound, s.try(s.client, http.MethodGet, at+"?version=9", nil).status)
	require.Equal(t, http.StatusNotFound, s.try(s.client, http.MethodPost, "/recipes/none", recipeForm()).status)
}

func TestTokensAreShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	refused := s.post(http.StatusUnprocessableEntity, "/settings/tokens", url.Values{"name": {" "}})
	require.Contains(t, refused.Find(".notice").Text(), "needs a name")
	page := s.post(http.StatusCreated, "/settings/tokens", url.Values{"name": {"CI <b>"}})
	token := page.Find("[data-copy-source]").Text()
	require.NotEmpty(t, token)
	require.NotContains(t, s.get("/settings").body, token)
	works := func() int {
		return s.try(s.stranger(), http.MethodGet, "/settings", nil, "Authorization", "Bearer "+token).status
	}
	require.Equal(t, http.StatusOK, works())
	rows, err := s.w.DB.APITokens(t.Context(), s.w.Owner.AccountID)
	require.NoError(t, err)
	for _, row := range rows {
		require.NotContains(t, row.Hash, token)
		if row.Name == "CI <b>" {
			s.post(http.StatusSeeOther, "/settings/tokens/"+row.ID+"/delete", nil)
		}
	}
	require.Equal(t, http.StatusSeeOther, works())
	s.post(http.StatusNotFound, "/settings/tokens/none/delete", nil)
}

func TestViewersReadApprovalsButDoNotAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.approval(`{"title":"Read me"}`)
	viewer := s.member(models.RoleViewer)
	client := s.browser(models.User{ID: viewer.UserID, AccountID: viewer.AccountID})
	page := s.try(client, http.MethodGet, "/approvals/"+id, nil)
	require.Equal(t, http.StatusOK, page.status)
	require.Equal(t, 0, page.Find("form[data-decide]").Length())
	require.Equal(t, http.StatusNotFound, s.try(client, http.MethodPost, "/approvals/"+id+"/decisions", url.Values{"outcome": {"approve"}}).status)
	require.Nil(t, s.decision(id))
}
