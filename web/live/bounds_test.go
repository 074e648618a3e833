package live_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/models"
	"sluice/models/modelstest"
	"sluice/web/webtest"
)

// fill stores spans of a run, numbered after those of its own.
func fill(t testing.TB, w *webtest.World, runID string, n int) {
	t.Helper()
	rows := make([]models.Span, 0, n)
	for i := range n {
		s := engine.Span{RunID: runID, ID: fmt.Sprintf("x%d", i), Seq: int64(1_000 + i), Kind: engine.SpanStep, Status: "succeeded"}
		body, err := json.Marshal(&s)
		require.NoError(t, err)
		rows = append(rows, models.Span{RunID: runID, ID: s.ID, Seq: s.Seq, AccountID: w.Owner.AccountID, Body: string(body)})
	}
	require.NoError(t, w.DB.SaveSpans(t.Context(), rows))
	modelstest.Invented(w.DB)
}

func TestALongRunComesInPages(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, modelstest.SQLite(t))
	run := start(t, w)
	const spans = 3_500
	fill(t, w, run.ID, spans)
	v := watch(t, w, "run:"+run.ID, 0)
	first := v.next()
	require.Equal(t, "snapshot", first.Type)
	require.NotNil(t, first.Run)
	require.Len(t, first.Spans, models.MaxSpans)
	require.Equal(t, first.Spans[len(first.Spans)-1].Seq, first.Seq)
	last := first.Seq
	for f := v.next(); f.Type != "caught_up"; f = v.next() {
		require.Equal(t, "spans", f.Type)
		require.LessOrEqual(t, len(f.Spans), models.MaxSpans)
		require.GreaterOrEqual(t, f.Seq, last)
		last = f.Seq
	}
	require.Contains(t, v.spans, engine.RootSpanID)
	require.GreaterOrEqual(t, len(v.spans), spans)
	require.EqualValues(t, 1_000+spans-1, v.seq)

	// A client that was cut off in between goes on from there.
	again := watch(t, w, "run:"+run.ID, 3_000)
	again.caughtUp()
	require.NotContains(t, again.spans, "x1")
	require.Contains(t, again.spans, "x2001")
	require.Contains(t, again.spans, fmt.Sprintf("x%d", spans-1))
}

func TestAClientThatFallsBehindReadsWhatItMissed(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		w := webtest.New(t, db)
		modelstest.Invented(db)
		run := start(t, w)
		slow := watch(t, w, "run:"+run.ID, 0)
		slow.caughtUp()
		// Many times what a room keeps, and what sockets hold, while nobody reads.
		const events, spans = 400, 50
		text := json.RawMessage(`"` + strings.Repeat("x", 1_000) + `"`)
		seq := int64(1_000)
		for range events {
			batch := make([]engine.Span, spans)
			for i := range batch {
				seq++
				batch[i] = engine.Span{RunID: run.ID, ID: fmt.Sprint("x", seq), Seq: seq, Kind: engine.SpanStep, Status: "succeeded", Output: text}
			}
			w.Tracer.Record(w.Owner.AccountID, batch)
		}
		for len(slow.spans) < events*spans {
			// As the page does it: what a busy server had to drop is asked for again.
			if slow.next().Type == "resync" {
				slow.send(fmt.Sprintf(`{"type":"subscribe","topic":"run:%s","after":0}`, run.ID))
			}
		}
		require.Contains(t, slow.spans, "x1001")
		require.Contains(t, slow.spans, fmt.Sprint("x", seq))
	})
}

// closeCode reads up to the connection's end.
func (v *viewer) closeCode() int {
	v.t.Helper()
	require.NoError(v.t, v.conn.SetReadDeadline(time.Now().Add(30*time.Second)))
	for {
		_, _, err := v.conn.ReadMessage()
		if err == nil {
			continue
		}
		var closed *websocket.CloseError
		require.ErrorAs(v.t, err, &closed)
		return closed.Code
	}
}

func TestASocketEndsWithItsToken(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, modelstest.SQLite(t))
	token, text, err := w.DB.CreateAPIToken(t.Context(), w.Owner, "short")
	require.NoError(t, err)
	other := *w
	other.Token = text
	v, stays := watch(t, &other, "inbox", 0), watch(t, w, "inbox", 0)
	v.next()
	stays.next()
	require.NoError(t, w.App.DeleteToken(t.Context(), w.Principal(), token.ID))
	require.Equal(t, 4401, v.closeCode())
	stays.send(`{"type":"ping"}`)
	require.Equal(t, "pong", stays.next().Type)
}

func TestATokenThatEndedElsewhereSubscribesToNothing(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, modelstest.SQLite(t))
	run := start(t, w)
	token, text, err := w.DB.CreateAPIToken(t.Context(), w.Owner, "short")
	require.NoError(t, err)
	other := *w
	other.Token = text
	v := watch(t, &other, "inbox", 0)
	v.next()
	// As another server does it: this process is not told.
	require.NoError(t, w.DB.DeleteAPIToken(t.Context(), w.Owner.AccountID, token.ID))
	v.send(`{"type":"subscribe","topic":"run:` + run.ID + `"}`)
	require.Equal(t, 4401, v.closeCode())
}

func TestATokenThatEndedElsewhereIsFoundOutByThePing(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, modelstest.SQLite(t))
	w.Live.SetPings(20 * time.Millisecond)
	token, text, err := w.DB.CreateAPIToken(t.Context(), w.Owner, "short")
	require.NoError(t, err)
	other := *w
	other.Token = text
	v := watch(t, &other, "inbox", 0)
	v.next()
	require.NoError(t, w.DB.DeleteAPIToken(t.Context(), w.Owner.AccountID, token.ID))
	require.Equal(t, 4401, v.closeCode())
}

func TestASocketEndsWithItsSession(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		w := webtest.New(t, db)
		in := httptest.NewRecorder()
		w.Auth.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			require.NoError(t, w.Auth.SignIn(r.Context(), w.Owner))
		})).ServeHTTP(in, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody))
		cookie := in.Result().Cookies()[0]
		conn, res, err := dial(t, w, http.Header{"Cookie": {cookie.String()}})
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		t.Cleanup(func() { _ = conn.Close() })
		v := &viewer{t: t, conn: conn, spans: map[string]engine.Span{}}
		v.send(`{"type":"subscribe","topic":"inbox"}`)
		require.Equal(t, "inbox", v.next().Type)

		out := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/logout", http.NoBody)
		out.AddCookie(cookie)
		w.Auth.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			require.NoError(t, w.Auth.SignOut(r.Context()))
		})).ServeHTTP(httptest.NewRecorder(), out)
		require.Equal(t, 4401, v.closeCode())
	})
}
