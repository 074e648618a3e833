package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/models"
	"sluice/models/modelstest"
	"sluice/web/app"
	"sluice/web/live"
	"sluice/web/webtest"
)

// viewer is a client that builds its own picture of a run.
type viewer struct {
	t     *testing.T
	conn  *websocket.Conn
	spans map[string]engine.Span
	seq   int64
	run   struct{ Status string }
}

type frame struct {
	Type    string
	Topic   string
	Seq     int64
	Run     *struct{ Status string }
	Spans   []engine.Span
	SpanID  string `json:"span_id"`
	Text    string
	Pending *int64
	Code    string
	Event   *struct {
		Type       string
		ApprovalID string `json:"approval_id"`
		RunID      string `json:"run_id"`
	}
}

func dial(t *testing.T, w *webtest.World, header http.Header) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	if header == nil {
		header = http.Header{"Authorization": {"Bearer " + w.Token}}
	}
	return websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(w.Server.URL, "http")+"/ws", header)
}

func watch(t *testing.T, w *webtest.World, topic string, after int64) *viewer {
	t.Helper()
	conn, res, err := dial(t, w, nil)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	v := &viewer{t: t, conn: conn, spans: map[string]engine.Span{}}
	t.Cleanup(func() { _ = conn.Close() })
	v.send(fmt.Sprintf(`{"type":"subscribe","topic":%q,"after":%d}`, topic, after))
	return v
}

func (v *viewer) send(message string) {
	v.t.Helper()
	require.NoError(v.t, v.conn.WriteMessage(websocket.TextMessage, []byte(message)))
}

func (v *viewer) next() frame {
	v.t.Helper()
	require.NoError(v.t, v.conn.SetReadDeadline(time.Now().Add(30*time.Second)))
	var f frame
	require.NoError(v.t, v.conn.ReadJSON(&f))
	if f.Run != nil {
		v.run = *f.Run
	}
	for _, s := range f.Spans {
		if old, ok := v.spans[s.ID]; !ok || old.Seq < s.Seq {
			v.spans[s.ID] = s
		}
	}
	v.seq = max(v.seq, f.Seq)
	return f
}

// until reads frames up to one that fits.
func (v *viewer) until(what string, fits func(frame) bool) frame {
	v.t.Helper()
	for range 10_000 {
		if f := v.next(); fits(f) {
			return f
		}
	}
	v.t.Fatalf("no %s came", what)
	return frame{}
}

func (v *viewer) status(want string) {
	v.t.Helper()
	if v.run.Status == want {
		return
	}
	v.until("status "+want, func(frame) bool { return v.run.Status == want })
}

// picture is what a viewer shows: every span's status.
func (v *viewer) picture() map[string]string {
	out := map[string]string{}
	for id, s := range v.spans {
		out[id] = s.Status
	}
	return out
}

// shows waits until the viewer shows a picture. The run's end may be told before
// the last of its spans: an answer's span comes from whoever gave the answer.
func (v *viewer) shows(want map[string]string) {
	v.t.Helper()
	if !maps.Equal(want, v.picture()) {
		v.until("the same picture", func(frame) bool { return maps.Equal(want, v.picture()) })
	}
}

func start(t *testing.T, w *webtest.World) engine.Run {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "engine", "testdata", "cases", "approval-in-loop.json"))
	require.NoError(t, err)
	flow, err := w.App.Create(t.Context(), w.Principal(), doc, "")
	require.NoError(t, err)
	run, _, err := w.App.Start(t.Context(), w.Principal(), app.StartRequest{WorkflowID: flow.ID, Input: json.RawMessage(`{"items":[{"name":"a","price":1},{"name":"b","price":2}]}`)})
	require.NoError(t, err)
	return run
}

func approveAll(t *testing.T, w *webtest.World, runID string) {
	t.Helper()
	items, _, err := w.DB.Approvals(t.Context(), models.ApprovalQuery{AccountID: w.Owner.AccountID, Status: "pending", RunID: runID})
	require.NoError(t, err)
	require.NotEmpty(t, items)
	for _, a := range items {
		_, err := w.App.Decide(t.Context(), w.Principal(), a.ID, app.Decision{Outcome: "approve"})
		require.NoError(t, err)
	}
}

func TestTwoViewersSeeTheSameAndOneThatWasAwayCatchesUp(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		w := webtest.New(t, db)
		run := start(t, w)
		topic := "run:" + run.ID
		first, second := watch(t, w, topic, 0), watch(t, w, topic, 0)
		first.status("pending_approval")
		second.status("pending_approval")
		away := second.seq
		require.NoError(t, second.conn.Close())

		approveAll(t, w, run.ID)
		first.status("succeeded")
		late := watch(t, w, topic, away)
		late.spans = second.spans
		late.status("succeeded")
		late.until("caught_up", func(f frame) bool { return f.Type == "caught_up" })
		fresh := watch(t, w, topic, 0)
		fresh.until("caught_up", func(f frame) bool { return f.Type == "caught_up" })
		first.shows(fresh.picture())
		late.shows(fresh.picture())
		require.Equal(t, "succeeded", fresh.spans["each[1]/publish"].Status)
	})
}

func TestTheInboxCountsLive(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, modelstest.SQLite(t))
	v := watch(t, w, "inbox", 0)
	require.Zero(t, *v.until("count", func(f frame) bool { return f.Pending != nil }).Pending)
	run := start(t, w)
	open := v.until("two open", func(f frame) bool { return f.Pending != nil && *f.Pending == 2 })
	require.Equal(t, "opened", open.Event.Type)
	require.Equal(t, run.ID, open.Event.RunID)
	_, err := w.App.DB.Approval(t.Context(), w.Owner.AccountID, open.Event.ApprovalID)
	require.NoError(t, err)
	_, err = w.Engine.Cancel(t.Context(), w.Owner.AccountID, run.ID, w.Principal().Actor(), "")
	require.NoError(t, err)
	v.until("none open", func(f frame) bool { return f.Pending != nil && *f.Pending == 0 })
}

func TestForeignAndUnknownTopicsAreRefusedAlike(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, modelstest.SQLite(t))
	v := watch(t, w, "run:unknown", 0)
	require.Equal(t, "not_found", v.next().Code)
	for _, topic := range []string{"run:*", "run:", "", "inbox:other", "workflows"} {
		v.send(fmt.Sprintf(`{"type":"subscribe","topic":%q}`, topic))
		require.Equal(t, "not_found", v.next().Code, topic)
	}
	for _, bad := range []string{`nonsense`, `[]`, `{"type":"explode"}`, `{"type":7}`} {
		v.send(bad)
		require.Equal(t, "bad_request", v.next().Code, bad)
	}
	v.send(`{"type":"ping"}`)
	require.Equal(t, "pong", v.next().Type)
}

func TestStrangersAndOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, modelstest.SQLite(t))
	_, res, err := dial(t, w, http.Header{})
	require.Error(t, err)
	require.Equal(t, http.StatusUnauthorized, res.StatusCode)
	require.NoError(t, res.Body.Close())
}

func TestAClientThatReadsLateIsToldWhatItMissed(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, modelstest.SQLite(t))
	modelstest.Invented(w.DB)
	run := start(t, w)
	slow := watch(t, w, "run:"+run.ID, 0)
	const spans = 20_000
	for i := range spans {
		w.Tracer.Record(w.Owner.AccountID, []engine.Span{{RunID: run.ID, ID: fmt.Sprint("x", i), Seq: int64(1_000 + i), Kind: engine.SpanStep, Status: "succeeded", Output: json.RawMessage(`"` + strings.Repeat("x", 100) + `"`)}})
	}
	good := watch(t, w, "run:"+run.ID, 0)
	good.until("caught_up", func(f frame) bool { return f.Type == "caught_up" })
	require.NotEmpty(t, good.spans)
	// It reads at last: it has everything, or is told to start over.
	slow.until("resync or all spans", func(f frame) bool { return f.Type == "resync" || len(slow.spans) >= spans })
}

func TestStreamedTextReachesEveryViewer(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, modelstest.SQLite(t))
	run := start(t, w)
	v := watch(t, w, "run:"+run.ID, 0)
	v.until("caught_up", func(f frame) bool { return f.Type == "caught_up" })
	for _, word := range []string{"日", "本", " text"} {
		w.Tracer.Delta(w.Owner.AccountID, run.ID, "draft@1", word)
	}
	text := ""
	v.until("the text", func(f frame) bool {
		if f.Type == "delta" {
			text += f.Text
		}
		return text == "日本 text"
	})
}

func TestAStatusThatChangesDuringTheSnapshotIsNotMissed(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, modelstest.SQLite(t))
	modelstest.Invented(w.DB)
	run := start(t, w)
	_, err := w.App.AwaitFor(t.Context(), w.Principal(), run.ID, 30*time.Second)
	require.NoError(t, err)
	// The run changes just after the snapshot has read it.
	var status atomic.Value
	status.Store("before")
	view := func(context.Context, string, string) (any, error) {
		got := status.Load()
		if status.CompareAndSwap("before", "after") {
			w.Tracer.Record(w.Owner.AccountID, []engine.Span{{RunID: run.ID, ID: engine.RootSpanID, Seq: 5_000, Kind: engine.SpanRun, Status: "after"}})
		}
		return map[string]any{"status": got}, nil
	}
	server := live.New(w.DB, w.Hub, view, w.Auth.Check, slog.New(slog.DiscardHandler))
	own := httptest.NewServer(w.Auth.Middleware(server))
	defer own.Close()
	defer server.Close()
	other := *w
	other.Server = own
	watch(t, &other, "run:"+run.ID, 0).status("after")
}

func TestAClientThatComesBackGetsWhatWasPublishedLate(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, modelstest.SQLite(t))
	modelstest.Invented(w.DB)
	run := start(t, w)
	record := func(id string, seq int64) {
		w.Tracer.Record(w.Owner.AccountID, []engine.Span{{RunID: run.ID, ID: id, Seq: seq, Kind: engine.SpanStep, Status: "succeeded"}})
	}
	v := watch(t, w, "run:"+run.ID, 0)
	record("second", 1_001)
	v.until("the second", func(frame) bool { return v.seq == 1_001 })
	require.NoError(t, v.conn.Close())
	record("first", 1_000)
	again := watch(t, w, "run:"+run.ID, v.seq)
	again.until("caught_up", func(f frame) bool { return f.Type == "caught_up" })
	require.Contains(t, again.spans, "first")
	require.EqualValues(t, 1_001, again.seq)
}
