package main

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// wire is a network between a browser and a server that can be cut.
type wire struct {
	url    string
	target string

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool
}

func newWire(t *testing.T, s *server) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed by the test's end
	require.NoError(t, err)
	w := &wire{url: "http://" + l.Addr().String(), target: strings.TrimPrefix(s.url, "http://"), conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		_ = l.Close()
		w.cut()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()
	return w
}

// carry joins a connection with one to the server, until either ends.
func (w *wire) carry(c net.Conn) {
	defer c.Close()                      //nolint:errcheck // the other end may have closed it
	up, err := net.Dial("tcp", w.target) //nolint:noctx // ends with the connection
	if err != nil {
		return
	}
	defer up.Close() //nolint:errcheck // the other end may have closed it
	if !w.keep(c, up) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(up, c); _ = up.Close() })
	both.Go(func() { _, _ = io.Copy(c, up); _ = c.Close() })
	both.Wait()
}

func (w *wire) keep(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return false
	}
	for _, c := range conns {
		w.conns[c] = true
	}
	return true
}

// cut breaks every connection and lets no new one through.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = true
	for c := range w.conns {
		_ = c.Close()
	}
	clear(w.conns)
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = false
}

// TestJourneyCatchUpAfterALostNetwork cuts one of two viewers off while the run goes
// on: it says so, and shows everything once it is back, without a reload.
func TestJourneyCatchUpAfterALostNetwork(t *testing.T) {
	s := sqliteServer(t)
	near := newBrowser(t, s)
	net := newWire(t, s)
	far := near.tab()
	far.url = net.url
	run := s.startRun(s.importWorkflow(caseDoc(t, "approval-in-loop.json")), threeItems)
	s.await(run.ID, "pending_approval")
	for _, b := range []*browser{near, far} {
		b.open("/runs/" + run.ID)
		b.runIs("Needs approval")
	}
	require.True(t, far.js("(window.notReloaded = true)"))

	net.cut()
	far.until("the loss is shown", `/reconnecting|offline/i.test(document.body.innerText)`)
	for _, a := range s.approvals(run.ID) {
		require.Equal(t, http.StatusOK, s.call("POST", "/approvals/"+a.ID+"/decisions", `{"outcome":"approve"}`, nil))
	}
	near.runIs("Succeeded")
	require.Contains(t, far.text(runBadge), "Needs approval")
	net.mend()
	far.runIs("Succeeded")

	tree := `[...document.querySelectorAll("[role=treeitem]")].map(e => e.id + ":" + (e.dataset.status ?? "")).join()`
	require.Equal(t, near.text(tree), far.text(tree))
	require.True(t, far.js("window.notReloaded === true"))
}
