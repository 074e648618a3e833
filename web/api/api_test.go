package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/models"
	"sluice/models/modelstest"
	"sluice/web/webtest"
)

// client calls the API as the owner.
type client struct {
	t *testing.T
	w *webtest.World
}

// call returns the status and the body.
func (c client) call(method, path, body string, header ...string) (int, string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.w.Server.URL+"/api/v1"+path, strings.NewReader(body))
	require.NoError(c.t, err)
	req.Header.Set("Authorization", "Bearer "+c.w.Token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(c.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	return res.StatusCode, string(raw)
}

// want calls, checks the status and decodes the answer.
func (c client) want(status int, into any, method, path, body string, header ...string) string {
	c.t.Helper()
	got, raw := c.call(method, path, body, header...)
	require.Equal(c.t, status, got, "%s %s: %s", method, path, raw)
	if into != nil {
		require.NoError(c.t, json.Unmarshal([]byte(raw), into), raw)
	}
	return raw
}

// pages checks that a run's steps and spans are the same page by page.
func (c client) pages(runID string) {
	c.t.Helper()
	type page struct {
		Items      []struct{ Address string } `json:"items"`
		NextCursor string                     `json:"next_cursor"`
		Spans      []struct{ ID string }      `json:"spans"`
		NextAfter  int64                      `json:"next_after"`
	}
	var steps, spans page
	c.want(200, &steps, "GET", "/runs/"+runID+"/steps", "")
	c.want(200, &spans, "GET", "/runs/"+runID+"/spans", "")
	require.Empty(c.t, steps.NextCursor)
	require.Zero(c.t, spans.NextAfter)
	var got page
	for path := "/runs/" + runID + "/steps?limit=2"; path != ""; {
		var p page
		c.want(200, &p, "GET", path, "")
		got.Items = append(got.Items, p.Items...)
		require.LessOrEqual(c.t, len(p.Items), 2)
		if path = ""; p.NextCursor != "" {
			path = "/runs/" + runID + "/steps?limit=2&cursor=" + p.NextCursor
		}
	}
	for path := "/runs/" + runID + "/spans?limit=3"; path != ""; {
		var p page
		c.want(200, &p, "GET", path, "")
		got.Spans = append(got.Spans, p.Spans...)
		require.LessOrEqual(c.t, len(p.Spans), 3)
		if path = ""; p.NextAfter > 0 {
			path = fmt.Sprintf("/runs/%s/spans?limit=3&after=%d", runID, p.NextAfter)
		}
	}
	require.Equal(c.t, steps.Items, got.Items)
	require.Equal(c.t, spans.Spans, got.Spans)
	_, raw := c.call("GET", "/runs/"+runID+"/steps?cursor=made-up", "")
	require.Contains(c.t, raw, models.ErrCursor.Error())
}

func each(t *testing.T, test func(t *testing.T, c client)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(t, client{t, webtest.New(t, db)}) })
}

type object struct {
	ID       string `json:"id"`
	Revision int64  `json:"revision"`
	Status   string `json:"status"`
}

func caseDoc(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "engine", "testdata", "cases", name))
	require.NoError(t, err)
	return string(b)
}

const items = `{"input":{"items":[{"name":"唐辛子","price":9007199254740993},{"name":"b","price":0.1}]}}`

func TestAWorkflowIsStoredRunAndApproved(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client) {
		var w object
		c.want(201, &w, "POST", "/workflows", caseDoc(t, "approval-in-loop.json"))
		var run object
		raw := c.want(201, &run, "POST", "/workflows/"+w.ID+"/runs?wait=30s", items)
		require.Equal(t, "pending_approval", run.Status)
		require.Contains(t, raw, `"price":9007199254740993`)

		var open struct{ Items []object }
		raw = c.want(200, &open, "GET", "/approvals?run="+run.ID, "")
		require.Len(t, open.Items, 2)
		require.Contains(t, raw, "Publish 唐辛子?")
		for _, a := range open.Items {
			decision := `{"outcome":"approve","comment":"好"}`
			c.want(422, nil, "POST", "/approvals/"+a.ID+"/decisions", `{"outcome":"maybe"}`)
			c.want(200, nil, "POST", "/approvals/"+a.ID+"/decisions", decision)
			c.want(200, nil, "POST", "/approvals/"+a.ID+"/decisions", decision)
			raw = c.want(409, nil, "POST", "/approvals/"+a.ID+"/decisions", `{"outcome":"reject"}`)
			require.Contains(t, raw, "already answered")
		}
		_, err := c.w.App.AwaitFor(t.Context(), c.w.Principal(), run.ID, 30e9)
		require.NoError(t, err)
		raw = c.want(200, &run, "GET", "/runs/"+run.ID, "")
		require.Equal(t, "succeeded", run.Status, raw)
		require.Contains(t, raw, `"published":"No. 0: 唐辛子"`)
		raw = c.want(200, nil, "GET", "/runs/"+run.ID+"/steps", "")
		require.Contains(t, raw, `"address":"each[1]/publish"`)
		raw = c.want(200, nil, "GET", "/runs/"+run.ID+"/definition", "")
		require.Contains(t, raw, `"format":"sluice/v1"`)
		raw = c.want(200, nil, "GET", "/runs/"+run.ID+"/spans", "")
		require.Contains(t, raw, `"id":"each[1]/publish"`)
		c.pages(run.ID)
		raw = c.want(200, nil, "GET", "/approvals?status=decided&run="+run.ID, "")
		require.Contains(t, raw, `"comment":"好"`)
	})
}

func TestAStaleSaveIsRefusedAndLosesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client) {
		var w object
		c.want(201, &w, "POST", "/workflows", `{"definition":`+caseDoc(t, "diamond-skip.json")+`,"name":"Mine"}`)
		save := func(name string) string {
			return `{"revision":1,"definition":{"format":"sluice/v1","name":"` + name + `","nodes":[{"id":"t","type":"trigger","config":{}}],"edges":[]}}`
		}
		c.want(200, &w, "PUT", "/workflows/"+w.ID, save("First"))
		require.EqualValues(t, 2, w.Revision)
		raw := c.want(409, nil, "PUT", "/workflows/"+w.ID, save("Second"))
		require.Contains(t, raw, `"current_revision":2`)
		require.Contains(t, c.want(200, nil, "GET", "/workflows/"+w.ID, ""), `"name":"First"`)
	})
}

func TestOnlyValidWorkflowsArePublishedAndRun(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client) {
		var w object
		raw := c.want(201, &w, "POST", "/workflows", `{"nodes":[{"id":"a","type":"nosuch"}],"edges":[]}`)
		require.Contains(t, raw, "unknown_type")
		raw = c.want(422, nil, "POST", "/workflows/"+w.ID+"/publish", `{"revision":1}`)
		require.Contains(t, raw, "no_trigger")
		c.want(422, nil, "POST", "/workflows/"+w.ID+"/runs", `{}`)
		raw = c.want(422, nil, "POST", "/workflows", `[1`)
		require.Contains(t, raw, "not JSON")

		doc := `{"name":"n","input_schema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}},
			"nodes":[{"id":"t","type":"trigger"},{"id":"e","type":"end"}],"edges":[{"source":"t","target":"e"}]}`
		c.want(201, &w, "POST", "/workflows", doc)
		raw = c.want(422, nil, "POST", "/workflows/"+w.ID+"/runs", `{"input":{"n":"x"}}`)
		require.Contains(t, raw, `"field":"input.n"`)
		c.want(201, nil, "POST", "/workflows/"+w.ID+"/publish", `{"revision":1,"notes":"v1"}`)
		raw = c.want(201, nil, "POST", "/workflows/"+w.ID+"/runs?wait=10s", `{"input":{"n":9007199254740993}}`)
		require.Contains(t, raw, `"output":{"n":9007199254740993}`)
		require.Contains(t, raw, `"version":1`)
		raw = c.want(200, nil, "GET", "/workflows/"+w.ID+"/versions/1", "")
		require.Contains(t, raw, `"notes":"v1"`)
	})
}

func TestStartsAreIdempotent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client) {
		var w, first, again object
		c.want(201, &w, "POST", "/workflows", caseDoc(t, "diamond-skip.json"))
		body := `{"input":{"customer":{"name":"a","id":1,"tier":"basic"}}}`
		c.want(202, &first, "POST", "/workflows/"+w.ID+"/runs", body, "Idempotency-Key", "k1")
		c.want(200, &again, "POST", "/workflows/"+w.ID+"/runs", body, "Idempotency-Key", "k1")
		require.Equal(t, first.ID, again.ID)
		raw := c.want(409, nil, "POST", "/workflows/"+w.ID+"/runs", `{"input":{"customer":{"name":"b"}}}`, "Idempotency-Key", "k1")
		require.Contains(t, raw, "Idempotency-Key")
	})
}

func TestRunsAreCancelledRetriedAndForked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client) {
		var w, run, fork object
		c.want(201, &w, "POST", "/workflows", caseDoc(t, "approval-in-loop.json"))
		c.want(201, &run, "POST", "/workflows/"+w.ID+"/runs?wait=30s", items)
		raw := c.want(409, nil, "POST", "/runs/"+run.ID+"/retry", "")
		require.Contains(t, raw, "waiting for approval")
		c.want(200, &run, "POST", "/runs/"+run.ID+"/cancel", `{"reason":"wrong"}`)
		require.Equal(t, "cancelled", run.Status)
		require.NotContains(t, c.want(200, nil, "GET", "/approvals", ""), run.ID)
		c.want(200, nil, "POST", "/runs/"+run.ID+"/cancel", "")
		c.want(200, &run, "POST", "/runs/"+run.ID+"/retry", "")
		_, err := c.w.App.AwaitFor(t.Context(), c.w.Principal(), run.ID, 30e9)
		require.NoError(t, err)
		require.Contains(t, c.want(200, nil, "GET", "/approvals?run="+run.ID, ""), "Publish b?")
		c.want(201, &fork, "POST", "/runs/"+run.ID+"/fork", `{"from":"each"}`)
		require.NotEqual(t, run.ID, fork.ID)
		c.want(422, nil, "POST", "/runs/"+run.ID+"/fork", `{"from":"nosuch"}`)
	})
}

func TestListsArePaged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client) {
		for _, name := range []string{"Đơn hàng", "注文の確認", "طلب", "orders"} {
			c.want(201, nil, "POST", "/workflows", `{"name":"`+name+`","nodes":[{"id":"t","type":"trigger"}],"edges":[]}`)
		}
		var page struct {
			Items []struct{ Name string }
			Next  string `json:"next_cursor"`
		}
		c.want(200, &page, "GET", "/workflows?limit=3", "")
		require.Len(t, page.Items, 3)
		require.Equal(t, "orders", page.Items[0].Name)
		c.want(200, &page, "GET", "/workflows?limit=3&cursor="+page.Next, "")
		require.Equal(t, "Đơn hàng", page.Items[0].Name)
		c.want(400, nil, "GET", "/workflows?cursor=x", "")
		for search, want := range map[string]string{"don": "Đơn hàng", "文": "注文の確認", "طلب": "طلب", "ORDERS": "orders"} {
			c.want(200, &page, "GET", "/workflows?q="+search, "")
			require.Len(t, page.Items, 1, search)
			require.Equal(t, want, page.Items[0].Name)
		}
	})
}

func TestNobodyAndStrangersGetNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client) {
		var w object
		c.want(201, &w, "POST", "/workflows", caseDoc(t, "diamond-skip.json"))
		stranger := c
		strange := *c.w
		strange.Token = "wrong"
		stranger.w = &strange
		code, _ := stranger.call("GET", "/workflows", "")
		require.Equal(t, 401, code)
		for _, path := range []string{"/workflows/x", "/runs/x", "/runs/x/steps", "/runs/x/spans", "/runs/x/definition", "/approvals/x", "/recipes/x"} {
			code, raw := c.call("GET", path, "")
			require.Equal(t, 404, code, "%s: %s", path, raw)
		}
	})
}

func TestTokensAndRecipes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client) {
		var token struct{ ID, Token string }
		c.want(201, &token, "POST", "/tokens", `{"name":"ci"}`)
		require.NotContains(t, c.want(200, nil, "GET", "/tokens", ""), token.Token)
		c.want(204, nil, "DELETE", "/tokens/"+token.ID, "")
		c.want(404, nil, "DELETE", "/tokens/"+token.ID, "")

		var r struct {
			ID      string
			Version int
		}
		recipe := `{"name":"greet","system":"","prompt":"Hi {{name}}","model":"","output_schema":{"type":"object","properties":{"a":{"type":"string"}}}}`
		c.want(201, &r, "POST", "/recipes", recipe)
		raw := c.want(422, nil, "POST", "/recipes", recipe)
		require.Contains(t, raw, "the name is taken")
		raw = c.want(422, nil, "POST", "/recipes", `{"name":"x","system":"","prompt":"{{","model":""}`)
		require.Contains(t, raw, "never closed")
		c.want(200, &r, "PUT", "/recipes/"+r.ID, recipe)
		require.Equal(t, 2, r.Version)
		raw = c.want(200, nil, "GET", "/recipes/"+r.ID+"/versions", "")
		require.Contains(t, raw, `"version":1`)

		var w object
		c.want(201, &w, "POST", "/workflows", `{"nodes":[{"id":"t","type":"trigger"},{"id":"r","type":"recipe","config":{"recipe":"greet","inputs":{"name":"Mai"}}},{"id":"e","type":"end"}],"edges":[{"source":"t","target":"r"},{"source":"r","target":"e"}]}`)
		raw = c.want(201, nil, "POST", "/workflows/"+w.ID+"/runs?wait=30s", `{}`)
		require.Contains(t, raw, `"status":"succeeded"`)
		require.Contains(t, c.want(200, nil, "GET", "/runs/"+strings.Split(strings.Split(raw, `"id":"`)[1], `"`)[0]+"/spans", ""), "Hi Mai")
	})
}

func TestTheOpenAPIDocumentNamesEveryRoute(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, modelstest.SQLite(t))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.Server.URL+"/api/openapi.json", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	var doc struct {
		OpenAPI string
		Paths   map[string]any
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&doc))
	require.True(t, strings.HasPrefix(doc.OpenAPI, "3.1"))
	for _, p := range []string{"/workflows", "/workflows/{id}/runs", "/runs/{id}/cancel", "/approvals/{id}/decisions", "/kinds"} {
		require.Contains(t, doc.Paths, "/api/v1"+p)
	}
}

func TestUnknownPathsMethodsAndFiltersAreProblems(t *testing.T) {
	t.Parallel()
	c := client{t, webtest.New(t, modelstest.SQLite(t))}
	for _, tt := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "/nothing", 404, "/api/v1/nothing"},
		{"DELETE", "/runs", 405, "DELETE"},
		{"GET", "/runs?status=finished", 422, "succeeded"},
	} {
		var p struct {
			Status        int
			Title, Detail string
			Errors        []struct{ Message, Location string }
		}
		raw := c.want(tt.status, &p, tt.method, tt.path, "")
		require.Equal(t, tt.status, p.Status)
		require.NotEmpty(t, p.Title)
		require.Contains(t, raw, tt.says)
	}
	c.want(200, nil, "GET", "/runs?status=failed,succeeded", "")
}

func TestHugeNumbersAndBadBodiesAreNotSentBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client) {
		var w, run object
		c.want(201, &w, "POST", "/workflows", `{"name":"n","nodes":[{"id":"t","type":"trigger"},{"id":"e","type":"end","config":{"output":"{{workflow_input}}"}}],"edges":[{"source":"t","target":"e"}]}`)
		raw := c.want(202, &run, "POST", "/workflows/"+w.ID+"/runs", `{"input": {"n": 1e999, "m": 9007199254740993}}`, "Idempotency-Key", "k")
		require.Contains(t, raw, `1e999`)
		require.Contains(t, raw, `9007199254740993`)
		var again object
		c.want(200, &again, "POST", "/workflows/"+w.ID+"/runs", `{"input":{"n":1e999,"m":9007199254740993}}`, "Idempotency-Key", "k")
		require.Equal(t, run.ID, again.ID, "the same input in other spacing")
		raw = c.want(400, nil, "POST", "/workflows/"+w.ID+"/runs", `{"input": {"password": "hunter2"`)
		require.NotContains(t, raw, "hunter2")
	})
}

func TestForksCheckTheirInput(t *testing.T) {
	t.Parallel()
	c := client{t, webtest.New(t, modelstest.SQLite(t))}
	var w, run object
	c.want(201, &w, "POST", "/workflows", `{"name":"n","input_schema":{"type":"object","properties":{"a":{"type":"integer"}}},"nodes":[{"id":"t","type":"trigger"},{"id":"e","type":"end"}],"edges":[{"source":"t","target":"e"}]}`)
	c.want(201, &run, "POST", "/workflows/"+w.ID+"/runs?wait=30s", `{"input":{"a":1}}`)
	c.want(422, nil, "POST", "/runs/"+run.ID+"/fork", `{"from":"e","input":{"a":"text"}}`)
	c.want(422, nil, "POST", "/runs/"+run.ID+"/fork", `{"from":"e","input":[1]}`)
	c.want(201, nil, "POST", "/runs/"+run.ID+"/fork", `{"from":"e","input":{"a":2}}`)
}

func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	c := client{t, webtest.New(t, modelstest.SQLite(t))}
	raw := c.want(422, nil, "POST", "/workflows", `{"name":"`+strings.Repeat("あ", 201)+`","nodes":[]}`)
	require.Contains(t, raw, "200")
}
