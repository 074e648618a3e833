package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/models/modelstest"
)

const threeItems = `{"items":[{"name":"唐辛子","price":9007199254740993},{"name":"b","price":0.1},{"name":"c 🌶","price":-0}]}`

func TestApprovalsSurviveAKilledServer(t *testing.T) {
	t.Parallel()
	modelstest.EachURL(t, func(t *testing.T, database string) {
		s := newServer(t, database)
		run := s.startRun(s.importWorkflow(caseDoc(t, "approval-in-loop.json")), threeItems)
		s.await(run.ID, "pending_approval")
		open := s.approvals(run.ID)
		require.Len(t, open, 3)
		before := ended(s.steps(run.ID))

		s.restart()

		sort.Slice(open, func(i, j int) bool { return open[i].Address > open[j].Address })
		for _, a := range open {
			require.Equal(t, http.StatusOK, s.call("POST", "/approvals/"+a.ID+"/decisions", `{"outcome":"approve"}`, nil))
		}
		run = s.await(run.ID, "succeeded", "failed")
		require.Equal(t, "succeeded", run.Status, "%s", run.Error)
		var out struct {
			Count   int `json:"count"`
			Results []struct {
				Published string `json:"published"`
			} `json:"results"`
		}
		require.NoError(t, json.Unmarshal(run.Output, &out))
		require.Equal(t, 3, out.Count)
		for i, name := range []string{"唐辛子", "b", "c 🌶"} {
			require.Equal(t, fmt.Sprintf("No. %d: %s", i, name), out.Results[i].Published)
		}
		after := ended(s.steps(run.ID))
		for address, at := range before {
			require.Equal(t, at, after[address], "%s ran again", address)
		}
	})
}

func ended(steps []apiStep) map[string]time.Time {
	out := map[string]time.Time{}
	for _, s := range steps {
		if s.Status == "succeeded" {
			out[s.Address] = s.EndedAt
		}
	}
	return out
}

// effects counts requests by idempotency key.
type effects struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string]int
	hit  chan struct{}
}

func newEffects(t *testing.T) *effects {
	t.Helper()
	e := &effects{seen: map[string]int{}, hit: make(chan struct{}, 1)}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.seen[r.Header.Get("Idempotency-Key")]++
		n := len(e.seen)
		e.mu.Unlock()
		if n > 1500 {
			select {
			case e.hit <- struct{}{}:
			default:
			}
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"ok":true}`)
	}))
	t.Cleanup(e.Close)
	return e
}

// chainOf is a trigger, n requests one after the other, and an end.
func chainOf(n int, url string) string {
	nodes := []string{`{"id":"start","type":"trigger"}`}
	var edges []string
	last := "start"
	for i := range n {
		id := fmt.Sprintf("s%02d", i)
		nodes = append(nodes, fmt.Sprintf(`{"id":%q,"type":"http_request","config":{"method":"POST","url":%q}}`, id, url))
		edges = append(edges, fmt.Sprintf(`{"source":%q,"target":%q}`, last, id))
		last = id
	}
	nodes = append(nodes, `{"id":"end","type":"end"}`)
	edges = append(edges, fmt.Sprintf(`{"source":%q,"target":"end"}`, last))
	return `{"format":"sluice/v1","name":"chain","nodes":[` + strings.Join(nodes, ",") + `],"edges":[` + strings.Join(edges, ",") + `]}`
}

func TestTwoHundredRunsSurviveAKill(t *testing.T) {
	t.Parallel()
	const runs, length = 200, 40
	modelstest.EachURL(t, func(t *testing.T, database string) {
		target := newEffects(t)
		s := newServer(t, database)
		workflow := s.importWorkflow(chainOf(length, target.URL))
		ids := make([]string, runs)
		for i := range ids {
			ids[i] = s.startRun(workflow, `{}`).ID
		}
		select {
		case <-target.hit:
		case <-time.After(60 * time.Second):
			t.Fatal("the runs do not get anywhere")
		}
		done := map[string]bool{}
		for _, id := range ids {
			for _, st := range s.steps(id) {
				if st.Status == "succeeded" {
					done[id+"/"+st.Address] = true
				}
			}
		}
		s.restart()
		twice := 0
		for _, id := range ids {
			run := s.await(id, "succeeded", "failed")
			require.Equal(t, "succeeded", run.Status, "%s", run.Error)
		}
		target.mu.Lock()
		defer target.mu.Unlock()
		for _, id := range ids {
			for i := range length {
				key := fmt.Sprintf("%s/s%02d", id, i)
				n := target.seen[key]
				require.GreaterOrEqual(t, n, 1, "%s never happened", key)
				if done[key] {
					require.Equal(t, 1, n, "%s was committed and happened again", key)
				}
				if n > 1 {
					twice++
				}
			}
		}
		// Only the request that was in flight when the server died may repeat.
		require.LessOrEqual(t, twice, runs)
	})
}
