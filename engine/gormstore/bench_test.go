package gormstore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
	"sluice/engine/gormstore"
	"sluice/engine/jobs"
	"sluice/models"
	"sluice/models/modelstest"
)

// benchRecords is how many step records a commit of the benchmarks carries.
const benchRecords = 20

func benchTransition(run engine.Run, n int) engine.Transition {
	t := engine.Transition{RunID: run.ID, AccountID: run.AccountID, Epoch: run.Epoch, Lease: time.Minute, Spans: benchRecords, At: time.Now()}
	for i := range benchRecords {
		t.Records = append(t.Records, engine.Record{
			Address: fmt.Sprintf("loop[%d]/step-%d", n, i), NodeID: "step", Type: "set", Status: engine.StepSucceeded, Attempt: 1, Seq: int64(n*benchRecords + i),
			Output: json.RawMessage(`{"score":0.83,"label":"a short text as steps have it"}`), Taken: []int{0}, StartedAt: t.At, EndedAt: t.At,
		})
	}
	return t
}

// commits drives runs that each commit again and again until b.N commits are done.
func commits(b *testing.B, o enginetest.Opened, runs int) {
	b.Helper()
	ctx := context.Background()
	claimed := make([]engine.Run, runs)
	for i := range claimed {
		id := engine.NewID()
		_, _, err := o.Store.CreateRun(ctx, engine.NewRun{Run: engine.Run{
			ID: id, AccountID: o.AccountID, WorkflowID: o.WorkflowID, VersionID: o.VersionID, DefinitionHash: o.Hash, CreatedAt: time.Now(),
		}})
		require.NoError(b, err)
		snap, err := o.Store.Claim(ctx, id, "bench", time.Hour)
		require.NoError(b, err)
		claimed[i] = snap.Run
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for _, run := range claimed {
		wg.Go(func() {
			for {
				n := int(next.Add(1))
				if n > b.N {
					return
				}
				if _, err := o.Store.Commit(ctx, benchTransition(run, n)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric(float64(b.N*benchRecords)/b.Elapsed().Seconds(), "records/s")
}

// starts creates runs with their durable jobs.
func starts(b *testing.B, db *models.DB, callers int) {
	b.Helper()
	ctx := context.Background()
	o := opened(b, db)
	queue, err := jobs.New(db, jobs.Options{})
	require.NoError(b, err)
	s := gormstore.New(db, gormstore.Options{Jobs: queue, Delay: time.Hour})
	require.NoError(b, s.Start(ctx))
	defer func() { require.NoError(b, s.Stop(ctx)) }()
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range callers {
		wg.Go(func() {
			for next.Add(1) <= int64(b.N) {
				if _, _, err := s.CreateRun(ctx, engine.NewRun{Run: engine.Run{
					ID: engine.NewID(), AccountID: o.AccountID, WorkflowID: o.WorkflowID, VersionID: o.VersionID, DefinitionHash: o.Hash, CreatedAt: time.Now(),
				}}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

func BenchmarkCommit(b *testing.B) {
	for _, runs := range []int{1, 200} {
		b.Run(fmt.Sprintf("sqlite/runs=%d", runs), func(b *testing.B) { commits(b, opened(b, modelstest.SQLite(b)), runs) })
		b.Run(fmt.Sprintf("postgres/runs=%d", runs), func(b *testing.B) {
			commits(b, opened(b, modelstest.Open(b, modelstest.PostgresURL(b))), runs)
		})
	}
}

func BenchmarkStart(b *testing.B) {
	for _, callers := range []int{1, 100} {
		b.Run(fmt.Sprintf("sqlite/callers=%d", callers), func(b *testing.B) { starts(b, modelstest.SQLite(b), callers) })
		b.Run(fmt.Sprintf("postgres/callers=%d", callers), func(b *testing.B) {
			starts(b, modelstest.Open(b, modelstest.PostgresURL(b)), callers)
		})
	}
}
