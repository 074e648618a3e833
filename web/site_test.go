package web_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"sluice/engine"
	"sluice/models"
	"sluice/models/modelstest"
	"sluice/web"
	"sluice/web/app"
	"sluice/web/auth"
	"sluice/web/webtest"
)

// site is the whole handler on a real engine and a real database, with a browser
// that is signed in as the owner.
type site struct {
	t      *testing.T
	w      *webtest.World
	url    string
	client *http.Client
}

func newSite(t *testing.T) *site {
	t.Helper()
	w := webtest.New(t, modelstest.SQLite(t))
	h, err := web.New(web.Deps{
		App: w.App, Auth: w.Auth, API: w.API, Live: w.Live, Log: slog.New(slog.DiscardHandler), Version: "v-test", Demo: true,
	})
	require.NoError(t, err)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	s := &site{t: t, w: w, url: server.URL}
	s.client = s.browser(w.Owner)
	return s
}

// browser is a browser in which a user is signed in. It does not follow redirects.
func (s *site) browser(u models.User) *http.Client {
	s.t.Helper()
	client := s.stranger()
	token, err := s.w.DB.CreateLoginToken(s.t.Context(), u, time.Hour)
	require.NoError(s.t, err)
	res, err := client.PostForm(s.url+"/login/"+token, nil)
	require.NoError(s.t, err)
	require.NoError(s.t, res.Body.Close())
	require.Equal(s.t, http.StatusSeeOther, res.StatusCode)
	return client
}

// stranger is a browser in which nobody is signed in.
func (s *site) stranger() *http.Client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answer is a response with its document.
type answer struct {
	*goquery.Document
	status int
	header http.Header
	body   string
}

func (s *site) send(client *http.Client, req *http.Request) answer {
	s.t.Helper()
	res, err := client.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(raw)))
	require.NoError(s.t, err)
	return answer{Document: doc, status: res.StatusCode, header: res.Header, body: string(raw)}
}

// get opens a page, which must answer with 200.
func (s *site) get(path string) answer {
	s.t.Helper()
	a := s.try(s.client, http.MethodGet, path, nil)
	require.Equal(s.t, http.StatusOK, a.status, path)
	return a
}

// try sends a request with a form; pairs are header names and values.
func (s *site) try(client *http.Client, method, path string, form url.Values, pairs ...string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(form.Encode()))
	require.NoError(s.t, err)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		req.Header.Set(pairs[i], pairs[i+1])
	}
	return s.send(client, req)
}

// post sends a form that must be answered with a status.
func (s *site) post(status int, path string, form url.Values) answer {
	s.t.Helper()
	a := s.try(s.client, http.MethodPost, path, form)
	require.Equal(s.t, status, a.status, "%s: %s", path, a.Find("main").Text())
	return a
}

// workflow stores a workflow.
func (s *site) workflow(doc, name string) string {
	s.t.Helper()
	w, err := s.w.App.Create(s.t.Context(), s.w.Principal(), []byte(doc), name)
	require.NoError(s.t, err)
	return w.ID
}

// run starts a workflow and waits for it to end or to need somebody.
func (s *site) run(workflow string) engine.Run {
	s.t.Helper()
	r, _, err := s.w.App.Start(s.t.Context(), s.w.Principal(), app.StartRequest{WorkflowID: workflow})
	require.NoError(s.t, err)
	r, err = s.w.App.AwaitFor(s.t.Context(), s.w.Principal(), r.ID, 30*time.Second)
	require.NoError(s.t, err)
	return r
}

// approval runs a workflow of one approval and returns the approval's id.
func (s *site) approval(config string) string {
	s.t.Helper()
	r := s.run(s.workflow(`{"nodes":[{"id":"t","type":"trigger"},{"id":"ask","type":"approval","config":`+config+`},{"id":"e","type":"end"}],
		"edges":[{"source":"t","target":"ask"},{"source":"ask","target":"e","handle":"approve"}]}`, "Ask"))
	rows, _, err := s.w.DB.Approvals(s.t.Context(), models.ApprovalQuery{AccountID: r.AccountID, RunID: r.ID})
	require.NoError(s.t, err)
	require.Len(s.t, rows, 1, "run is %s", r.Status)
	return rows[0].ID
}

// decision is what was stored as the answer to an approval, or nil.
func (s *site) decision(id string) *models.Decision {
	s.t.Helper()
	a, err := s.w.DB.Approval(s.t.Context(), s.w.Owner.AccountID, id)
	require.NoError(s.t, err)
	return a.Decision
}

// form are the values that a browser would send for a form: it writes line ends
// of a textarea as CR LF.
func (a answer) form(selector string) url.Values {
	v := url.Values{}
	a.Find(selector).Find("input, textarea, select").Each(func(_ int, e *goquery.Selection) {
		name, ok := e.Attr("name")
		if !ok {
			return
		}
		switch goquery.NodeName(e) {
		case "textarea":
			text := strings.ReplaceAll(strings.ReplaceAll(e.Text(), "\r\n", "\n"), "\r", "\n")
			v.Set(name, strings.ReplaceAll(text, "\n", "\r\n"))
		case "select":
			chosen := e.Find("option[selected]")
			if chosen.Length() == 0 {
				chosen = e.Find("option").First()
			}
			v.Set(name, chosen.AttrOr("value", chosen.Text()))
		default:
			v.Set(name, e.AttrOr("value", ""))
		}
	})
	return v
}

// otherUser is the owner of another account.
func (s *site) otherUser() models.User {
	s.t.Helper()
	account := models.Account{ID: models.NewID(), Name: "Other", CreatedAt: models.Now()}
	u := models.User{ID: models.NewID(), AccountID: account.ID, Email: "other@localhost", Name: "Other", Role: models.RoleOwner, CreatedAt: models.Now()}
	require.NoError(s.t, s.w.DB.Write(context.Background(), func(tx *gorm.DB) error {
		if err := tx.Create(&account).Error; err != nil {
			return err
		}
		return tx.Create(&u).Error
	}))
	return u
}

// member is a further user of the account.
func (s *site) member(role string) auth.Principal {
	s.t.Helper()
	u := models.User{
		ID: models.NewID(), AccountID: s.w.Owner.AccountID, Email: role + "@localhost", Name: "The " + role, Role: role, CreatedAt: models.Now(),
	}
	require.NoError(s.t, s.w.DB.Write(s.t.Context(), func(tx *gorm.DB) error { return tx.Create(&u).Error }))
	return auth.Principal{AccountID: u.AccountID, UserID: u.ID, Name: u.Name, Email: u.Email, Role: u.Role}
}

func quoted(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can be marshalled
	}
	return string(raw)
}
