package live_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"sluice/engine"
	"sluice/models/modelstest"
	"sluice/web/app"
	"sluice/web/webtest"
)

// servers are two worlds on one PostgreSQL database.
func servers(t *testing.T, a, b webtest.Options) (first, second *webtest.World) {
	t.Helper()
	address := modelstest.PostgresURL(t)
	return webtest.Start(t, modelstest.Open(t, address), a), webtest.Start(t, modelstest.Open(t, address), b)
}

// caughtUp waits until a viewer has what there was when it came.
func (v *viewer) caughtUp() {
	v.t.Helper()
	v.until("caught_up", func(f frame) bool { return f.Type == "caught_up" })
}

func TestAViewerOfAnotherServerSeesTheSame(t *testing.T) {
	t.Parallel()
	a, b := servers(t, webtest.Options{}, webtest.Options{})
	badge := watch(t, b, "inbox", 0)
	require.Zero(t, *badge.until("count", func(f frame) bool { return f.Pending != nil }).Pending)
	run := start(t, a)
	here, there := watch(t, a, "run:"+run.ID, 0), watch(t, b, "run:"+run.ID, 0)
	here.status("pending_approval")
	there.status("pending_approval")
	badge.until("two open", func(f frame) bool { return f.Pending != nil && *f.Pending == 2 })

	approveAll(t, a, run.ID)
	here.status("succeeded")
	there.status("succeeded")
	badge.until("none open", func(f frame) bool { return f.Pending != nil && *f.Pending == 0 })
	// The last span of all may come after the status, on either.
	fresh := watch(t, a, "run:"+run.ID, 0)
	fresh.caughtUp()
	here.shows(fresh.picture())
	there.shows(fresh.picture())
	require.Equal(t, "succeeded", there.spans[engine.RootSpanID].Status)
	require.Equal(t, "succeeded", there.spans["each[1]/publish"].Status)
}

func TestAServerThatWasDeafForAMomentMissesNothing(t *testing.T) {
	t.Parallel()
	a, b := servers(t, webtest.Options{}, webtest.Options{})
	run := start(t, a)
	there := watch(t, b, "run:"+run.ID, 0)
	there.status("pending_approval")
	badge := watch(t, b, "inbox", 0)
	badge.until("two open", func(f frame) bool { return f.Pending != nil && *f.Pending == 2 })
	require.NoError(t, a.DB.Write(t.Context(), func(tx *gorm.DB) error {
		return tx.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN sluice'").Error
	}))
	approveAll(t, a, run.ID)
	there.status("succeeded")
	badge.until("none open", func(f frame) bool { return f.Pending != nil && *f.Pending == 0 })
	fresh := watch(t, a, "run:"+run.ID, 0)
	fresh.caughtUp()
	there.shows(fresh.picture())
}

func TestADecisionOnAnotherServerWakesTheRun(t *testing.T) {
	t.Parallel()
	// Only the first works runs: what the second decides, the first goes on with.
	a, b := servers(t, webtest.Options{}, webtest.Options{WebOnly: true})
	run := start(t, a)
	here, there := watch(t, a, "run:"+run.ID, 0), watch(t, b, "run:"+run.ID, 0)
	here.status("pending_approval")
	there.status("pending_approval")
	approveAll(t, b, run.ID)
	here.status("succeeded")
	there.status("succeeded")
}

// No job is stored and no sweeper runs in these worlds: the news alone brings the run
// to whoever works it.
func TestAStartAtAServerThatDoesNotWorkIsWorkedByAnother(t *testing.T) {
	t.Parallel()
	_, b := servers(t, webtest.Options{}, webtest.Options{WebOnly: true})
	run := start(t, b)
	v := watch(t, b, "run:"+run.ID, 0)
	v.status("pending_approval")
	done, err := b.App.AwaitFor(t.Context(), b.Principal(), run.ID, time.Minute)
	require.NoError(t, err)
	require.Equal(t, engine.RunPendingApproval, done.Status)
}

// longDoc is a workflow with a step for each item.
const longDoc = `{"format":"sluice/v1","name":"Long","nodes":[
	{"id":"start","type":"trigger","config":{}},
	{"id":"each","type":"loop","config":{"collection":"{{workflow_input.items}}","concurrency":8}},
	{"id":"note","type":"set","parent":"each","config":{"values":{"n":"{{loop_index}}"}}}],
	"edges":[{"source":"start","target":"each"}]}`

func longRun(t *testing.T, w *webtest.World, items int) engine.Run {
	t.Helper()
	flow, err := w.App.Create(t.Context(), w.Principal(), []byte(longDoc), "")
	require.NoError(t, err)
	input := `{"items":[0` + strings.Repeat(",0", items-1) + `]}`
	run, _, err := w.App.Start(t.Context(), w.Principal(), app.StartRequest{WorkflowID: flow.ID, Input: json.RawMessage(input)})
	require.NoError(t, err)
	return run
}

func TestALongRunOfAnotherServerArrivesWhole(t *testing.T) {
	t.Parallel()
	a, b := servers(t, webtest.Options{}, webtest.Options{})
	const items = 1_500
	run := longRun(t, a, items)
	v := watch(t, b, "run:"+run.ID, 0)
	v.status("succeeded")
	// An iteration and a step for each item, and trigger, loop and run.
	for len(v.spans) < 2*items+3 {
		v.next()
	}
	fresh := watch(t, a, "run:"+run.ID, 0)
	fresh.caughtUp()
	v.shows(fresh.picture())
}
