package live_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"sluice/engine"
	"sluice/models"
	"sluice/models/modelstest"
	"sluice/web/webtest"
)

// BenchmarkFanout sends span events of one run to many sockets. Each event is a new
// span; every client must get all of them. The clients are in this process: their
// work counts for the times, and a socket's memory is that of both ends.
// record-ns/event is what the engine waits.
func BenchmarkFanout(b *testing.B) {
	for _, c := range []struct{ sockets, events int }{{0, 5_000}, {1, 5_000}, {100, 5_000}, {1_000, 5_000}} {
		b.Run(fmt.Sprintf("sockets=%d/events=%d", c.sockets, c.events), func(b *testing.B) {
			for range b.N {
				fanout(b, c.sockets, c.events)
			}
		})
	}
}

// counter is a client that decodes no more than it must to know what it has.
type counter struct {
	conn  *websocket.Conn
	have  []bool
	got   int
	waits []time.Duration
	err   error
}

// benchText is less than what follows the id of a span here.
const benchText = 200

var idMark = []byte(`"id":"event-`)

// read counts spans until it has all. sent tells when an event was recorded.
func (c *counter) read(events int, sent func(event int) time.Time) {
	c.have = make([]bool, events)
	var message bytes.Buffer
	for c.got < events && c.err == nil {
		var from io.Reader
		if _, from, c.err = c.conn.NextReader(); c.err != nil {
			return
		}
		message.Reset()
		if _, c.err = message.ReadFrom(from); c.err != nil {
			return
		}
		data, now := message.Bytes(), time.Now()
		for at := bytes.Index(data, idMark); at >= 0; at = bytes.Index(data, idMark) {
			data = data[at+len(idMark):]
			text, rest, _ := bytes.Cut(data, []byte(`"`))
			data = rest[min(len(rest), benchText):]
			event, err := strconv.Atoi(string(text))
			if err != nil {
				c.err = err
				return
			}
			if !c.have[event] {
				c.have[event] = true
				c.got++
				if event%10 == 0 {
					c.waits = append(c.waits, now.Sub(sent(event)))
				}
			}
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

func fanout(b *testing.B, sockets, events int) {
	b.Helper()
	b.StopTimer()
	w := webtest.New(b, modelstest.SQLite(b))
	// A run that is not worked, so that all of its spans are the benchmark's.
	run := models.Run{ID: models.NewID(), AccountID: w.Owner.AccountID, Status: "running", CreatedAt: models.Now()}
	require.NoError(b, w.DB.Write(b.Context(), func(tx *gorm.DB) error { return tx.Create(&run).Error }))

	before := heap()
	counters := make([]*counter, sockets)
	for i := range counters {
		counters[i] = &counter{conn: join(b, w, run.ID)}
	}
	if sockets > 0 {
		b.ReportMetric(float64(heap()-before)/float64(sockets)/1024, "KiB/socket")
	}
	times := make([]time.Time, events)
	var mu sync.Mutex
	sent := func(event int) time.Time {
		mu.Lock()
		defer mu.Unlock()
		return times[event]
	}
	var clients sync.WaitGroup
	for _, c := range counters {
		clients.Go(func() { c.read(events, sent) })
	}
	output := json.RawMessage(`{"text":"` + strings.Repeat("a word ", benchText/7) + `"}`)
	// As an engine does: 5,000 events a second, whatever becomes of them.
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	var recording time.Duration
	b.StartTimer()
	for i := range events {
		if i%10 == 0 {
			<-tick.C
		}
		began := time.Now()
		mu.Lock()
		times[i] = began
		mu.Unlock()
		w.Tracer.Record(w.Owner.AccountID, []engine.Span{{
			RunID: run.ID, ID: fmt.Sprintf("event-%d", i), Seq: int64(i + 1), Kind: engine.SpanStep, Status: "succeeded", Start: began, Output: output,
		}})
		recording += time.Since(began)
	}
	clients.Wait()
	b.StopTimer()
	b.ReportMetric(float64(recording.Nanoseconds())/float64(events), "record-ns/event")
	report(b, counters, events)
}

func report(b *testing.B, counters []*counter, events int) {
	b.Helper()
	var waits []time.Duration
	for _, c := range counters {
		require.NoError(b, c.err)
		require.Equal(b, events, c.got)
		waits = append(waits, c.waits...)
		require.NoError(b, c.conn.Close())
	}
	if len(waits) == 0 {
		return
	}
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms")
}

// join returns a socket that is up to date with a run.
func join(b *testing.B, w *webtest.World, runID string) *websocket.Conn {
	b.Helper()
	conn, res, err := websocket.DefaultDialer.DialContext(b.Context(), "ws"+strings.TrimPrefix(w.Server.URL, "http")+"/ws", http.Header{"Authorization": {"Bearer " + w.Token}})
	require.NoError(b, err)
	require.NoError(b, res.Body.Close())
	require.NoError(b, conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"subscribe","topic":"run:`+runID+`"}`)))
	for {
		_, data, err := conn.ReadMessage()
		require.NoError(b, err)
		if bytes.Contains(data, []byte(`"caught_up"`)) {
			return conn
		}
	}
}
