// Package promises_test holds the engine to its promises, each in a test of its own.
// The doc comment of a test states the promise; see package enginetest for how to add
// one.
package promises_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"sluice/engine"
	"sluice/engine/enginetest"
	"sluice/engine/gormstore"
	"sluice/engine/memstore"
	"sluice/engine/nodes"
	"sluice/models"
	"sluice/models/modelstest"
)

// The bounds of a run of the promises. The defaults are small; `make soak` sets them.
var (
	seedFlag     = flag.Uint64("promise.seed", 0, "run this seed alone")
	roundsFlag   = flag.Int("promise.rounds", 0, "how many seeds each promise tries; 0: its own small number")
	durationFlag = flag.Duration("promise.duration", 0, "go on with fresh seeds for so long, per promise and database")
	databaseFlag = flag.String("promise.database", "all", "memory, sqlite, postgres or all")
)

func TestMain(m *testing.M) {
	flag.Parse()
	switch *databaseFlag {
	case "memory", "sqlite", "postgres", "all":
	default:
		fmt.Fprintf(os.Stderr, "-promise.database is memory, sqlite, postgres or all, not %q\n", *databaseFlag)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// base is where the runs of a test are kept.
type base struct {
	name  string
	store enginetest.Backend
	add   func(hash string, canonical json.RawMessage)
	db    *models.DB // nil in memory
	// open opens the same database again, as another server does.
	open func(t testing.TB) enginetest.Backend
}

// each runs a test on every kind of store that the flags ask for.
func each(t *testing.T, test func(t *testing.T, b base)) {
	t.Helper()
	for _, name := range []string{"memory", "sqlite", "postgres"} {
		if *databaseFlag != "all" && *databaseFlag != name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t, name, nil))
		})
	}
}

// inMemory runs a test that is about the engine alone.
func inMemory(t *testing.T) base {
	t.Helper()
	t.Parallel()
	return open(t, "memory", nil)
}

func open(t testing.TB, name string, now func() time.Time) base {
	t.Helper()
	url := ""
	switch name {
	case "memory":
		m := memstore.New(now)
		return base{name: name, store: m, add: m.AddDefinition, open: func(testing.TB) enginetest.Backend { return m }}
	case "sqlite":
		url = "sqlite:" + t.TempDir() + "/promise.db"
	default:
		url = modelstest.PostgresURL(t)
	}
	db := modelstest.Open(t, url)
	at := time.Now().UnixMicro()
	exec(t, db, "INSERT INTO accounts (id, name, created_at) VALUES (?, 'promises', ?)", enginetest.Account, at)
	t.Cleanup(func() {
		broken, err := gormstore.Verify(context.Background(), db, kinds(t, &enginetest.Probe{}))
		require.NoError(t, err)
		require.Empty(t, broken)
	})
	b := base{name: name, db: db, store: started(t, db)}
	b.add = func(hash string, canonical json.RawMessage) {
		exec(t, db, "INSERT INTO definitions (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING", hash, string(canonical))
	}
	b.open = func(t testing.TB) enginetest.Backend {
		if name == "sqlite" {
			return b.store // SQLite is for one server
		}
		return started(t, modelstest.Open(t, url))
	}
	return b
}

func exec(t testing.TB, db *models.DB, query string, args ...any) {
	t.Helper()
	require.NoError(t, db.Write(context.Background(), func(tx *gorm.DB) error { return tx.Exec(query, args...).Error }))
}

func started(t testing.TB, db *models.DB) enginetest.Backend {
	t.Helper()
	s := gormstore.New(db, gormstore.Options{})
	require.NoError(t, s.Start(context.Background()))
	t.Cleanup(func() { require.NoError(t, s.Stop(context.Background())) })
	return s
}

// kinds are the built-in kinds and a probe.
func kinds(t testing.TB, more ...engine.Kind) *engine.Registry {
	t.Helper()
	built, err := nodes.Registry(nodes.Deps{HTTP: nodes.HTTPOptions{AllowPrivate: true}})
	require.NoError(t, err)
	for _, s := range built.Specs() {
		k, _ := built.Kind(s.Type)
		more = append(more, k)
	}
	reg, err := engine.NewRegistry(built.Schemas(), more...)
	require.NoError(t, err)
	return reg
}

// harness boots an engine on the base. A faulty one fails where it is told to.
func (b base) harness(t testing.TB, faulty bool, c engine.Config, more ...engine.Kind) *enginetest.Harness {
	t.Helper()
	if c.Jitter == nil {
		c.Jitter = func(int64) int64 { return 0 }
	}
	return enginetest.New(t, kinds(t, more...), enginetest.Options{Store: b.store, Add: b.add, Faulty: faulty, Config: c})
}

// seeds calls test with seeds until the bounds are reached: n of them, less on a
// database, or as the flags say. A seed that fails is printed with the command that
// runs it alone.
func (b base) seeds(t *testing.T, n int, test func(t *testing.T, seed uint64)) {
	t.Helper()
	if b.db != nil {
		n = max(1, n/10)
	}
	if *roundsFlag > 0 {
		n = *roundsFlag
	}
	first, ends := uint64(1), time.Now().Add(*durationFlag)
	if *durationFlag > 0 {
		first = uint64(time.Now().UnixNano())
	}
	if *seedFlag > 0 {
		first, n = *seedFlag, 1
	}
	name, _, _ := strings.Cut(t.Name(), "/")
	for i := uint64(0); *durationFlag == 0 && i < uint64(n) || *durationFlag > 0 && time.Now().Before(ends); i++ {
		seed := first + i
		// A test of its own, so that what it opened is given up when it is over.
		if !t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { test(t, seed) }) {
			t.Fatalf("seed %d failed; run it alone with:\n  go test ./engine/enginetest/promises -run '^%s$' -promise.seed=%d -promise.database=%s", seed, name, seed, b.name)
		}
		if *seedFlag > 0 {
			return
		}
	}
}

// fresh is the base for one seed: in memory a store of its own.
func (b base) fresh() base {
	if b.db != nil {
		return b
	}
	m := memstore.New(nil)
	b.store, b.add = m, m.AddDefinition
	return b
}

// endLimit is when a run is taken not to end; some tests have a clock of their own.
const endLimit = 5 * time.Minute

// ends waits until a run is over, on whichever server that comes about and whatever
// it waits for meanwhile.
func ends(t testing.TB, runID string, servers ...*enginetest.Harness) engine.Run {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), endLimit)
	defer cancel()
	over := make(chan engine.Run, len(servers))
	for _, h := range servers {
		go func() {
			for ctx.Err() == nil {
				run, err := h.Engine.Await(ctx, enginetest.Account, runID)
				if err == nil && run.Status.Terminal() {
					over <- run
					return
				}
			}
		}()
	}
	select {
	case run := <-over:
		return run
	case <-ctx.Done():
		snap := servers[0].Snapshot(runID)
		require.Failf(t, "the run does not end", "it is %s; %v", snap.Run.Status, servers[0].Statuses(runID))
		return snap.Run
	}
}

// document is a workflow of nodes and edges written as JSON.
func document(nodes, edges string) string {
	return `{"format":"sluice/v1","name":"promise","nodes":[` + nodes + `],"edges":[` + edges + `]}`
}
