package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/engine"
	"sluice/models"
	"sluice/web/app"
)

// measureProcess starts this program on an existing database and looks at it idle.
func measureProcess(ctx context.Context, b *bench) (err error) {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	info, err := os.Stat(self)
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	database := "sqlite:" + filepath.Join(dir, "start.db")
	if b.database.name != "SQLite" {
		database = b.database.url
	}
	var ready []time.Duration
	var resident float64
	for i := range 6 {
		took, rss, err := startOnce(ctx, self, database, i == 5)
		if err != nil {
			return err
		}
		if i > 0 { // the first makes the database
			ready = append(ready, took)
		}
		resident = rss
	}
	best := ready[0]
	for _, t := range ready {
		best = min(best, t)
	}
	b.add("W6", "start to ready on an existing database", ms(best), "ms", 150, 0)
	b.add("W6", "memory after 2 s idle", resident, "MiB", 50, 0)
	b.add("W6", "the program", float64(info.Size())/(1<<20), "MiB", 60, 0)
	return nil
}

// startOnce serves until the program says that it is ready, and then ends it.
func startOnce(ctx context.Context, self, database string, idle bool) (time.Duration, float64, error) {
	cmd := exec.CommandContext(ctx, self, "serve", "--addr", "127.0.0.1:0", "--database-url", database) //nolint:gosec // this very program
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, fmt.Errorf("start: %w", err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, fmt.Errorf("start: %w", err)
	}
	lines := bufio.NewScanner(out)
	said := false
	for !said && lines.Scan() {
		said = strings.Contains(lines.Text(), "is ready at")
	}
	took := time.Since(began)
	var rss float64
	if said && idle {
		<-time.After(2 * time.Second) // what is measured is idleness
		rss, err = residentMiB(cmd.Process.Pid)
	}
	err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM))
	for lines.Scan() {
		continue
	}
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return 0, 0, fmt.Errorf("serve: %w", err)
	}
	if !said {
		return 0, 0, errors.New("serve: it never became ready")
	}
	return took, rss, nil
}

// residentMiB is a process's resident memory. Linux only; 0 elsewhere.
func residentMiB(pid int) (float64, error) {
	if runtime.GOOS != "linux" {
		return 0, nil
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read memory: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024, err
		}
	}
	return 0, errors.New("read memory: no VmRSS")
}

// measureAnswers is the time from an answer to the next step's start, with few runs
// in the tables and with many, and what parked runs cost.
func (c *benchCommand) measureAnswers(ctx context.Context, b *bench) error {
	w, err := b.workflow(ctx, `{"name":"ask","nodes":[{"id":"start","type":"trigger"},{"id":"ask","type":"approval","config":{"title":"Go on?"}},
		{"id":"next",`+fmt.Sprintf(effectStep, "step.ask.outcome")+`},{"id":"end","type":"end"}],
		"edges":[{"source":"start","target":"ask"},{"source":"ask","target":"next","handle":"approve"},{"source":"next","target":"end"}]}`)
	if err != nil {
		return err
	}
	if err := b.answers(ctx, w, "answer to next step, p50"); err != nil {
		return err
	}
	const parked = 10_000
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	if err := b.park(ctx, w, parked); err != nil {
		return err
	}
	b.add("W7", "10,000 runs started and parked", time.Since(began).Seconds(), "s", 1.5, 0)
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.add("W7", "memory in the process per parked run", float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/parked, "bytes", 0, 0)
	if c.History == 0 {
		return nil
	}
	if err := b.history(ctx, w, c.History); err != nil {
		return err
	}
	return b.answers(ctx, w, fmt.Sprintf("the same with %d finished runs in the tables", c.History))
}

// answers measures from the answer's call to the start of the step after it.
func (b *bench) answers(ctx context.Context, w, what string) error {
	started := make(chan time.Time, 1)
	told := func() { started <- time.Now() }
	b.effect.told.Store(&told)
	defer b.effect.told.Store(nil)
	times := make([]time.Duration, 0, 200*b.rounds)
	for range cap(times) {
		run, _, err := b.service.Start(ctx, b.who, app.StartRequest{WorkflowID: w, Input: json.RawMessage(`{}`)})
		if err != nil {
			return err
		}
		if run, err = b.engine.Await(ctx, b.who.AccountID, run.ID); err != nil {
			return err
		}
		open, _, err := b.db.Approvals(ctx, models.ApprovalQuery{AccountID: b.who.AccountID, RunID: run.ID, Status: "pending", Limit: 1})
		if err != nil || len(open) != 1 {
			return errors.Join(err, fmt.Errorf("run %s has %d approvals", run.ID, len(open)))
		}
		began := time.Now()
		if _, err := b.service.Decide(ctx, b.who, open[0].ID, app.Decision{Outcome: "approve"}); err != nil {
			return err
		}
		times = append(times, (<-started).Sub(began))
		for !run.Status.Terminal() {
			if run, err = b.engine.Await(ctx, b.who.AccountID, run.ID); err != nil {
				return err
			}
		}
	}
	slices.Sort(times)
	b.add("W7", what, quantile(times, 0.5), "ms", 1.5, 0)
	return nil
}

// park starts runs that all wait for a person.
func (b *bench) park(ctx context.Context, w string, n int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(64)
	for range n {
		g.Go(func() error {
			run, _, err := b.service.Start(ctx, b.who, app.StartRequest{WorkflowID: w, Input: json.RawMessage(`{}`)})
			if err != nil {
				return err
			}
			if run, err = b.engine.Await(ctx, b.who.AccountID, run.ID); err != nil {
				return err
			}
			if run.Status != engine.RunPendingApproval {
				return fmt.Errorf("run %s is %s", run.ID, run.Status)
			}
			return nil
		})
	}
	return g.Wait()
}

// history copies a finished run with its steps and its approval many times over.
func (b *bench) history(ctx context.Context, w string, n int) error {
	var sample string
	query := "SELECT id FROM runs WHERE workflow_id = " + b.quoted(w) + " AND status = 'succeeded' LIMIT 1"
	if err := b.db.SQL().QueryRowContext(ctx, query).Scan(&sample); err != nil {
		return fmt.Errorf("find a finished run: %w", err)
	}
	for _, t := range []struct{ table, run string }{{"runs", "id"}, {"step_records", "run_id"}, {"parks", "run_id"}, {"approvals", "run_id"}} {
		rows, err := b.db.SQL().QueryContext(ctx, "SELECT * FROM "+t.table+" LIMIT 0")
		if err != nil {
			return fmt.Errorf("read the columns of %s: %w", t.table, err)
		}
		columns, err := rows.Columns()
		if err := errors.Join(err, rows.Close(), rows.Err()); err != nil { //nolint:sqlclosecheck // closed here
			return fmt.Errorf("read the columns of %s: %w", t.table, err)
		}
		values := slices.Clone(columns)
		for i, c := range columns {
			if c == t.run || c == "id" || c == "park_id" {
				values[i] = c + " || '-' || n.i"
			}
		}
		_, err = b.db.SQL().ExecContext(ctx, fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO %s (%s) SELECT %s FROM %s t, n WHERE t.%s = %s",
			n, t.table, strings.Join(columns, ", "), strings.Join(values, ", "), t.table, t.run, b.quoted(sample)))
		if err != nil {
			return fmt.Errorf("fill %s: %w", t.table, err)
		}
	}
	return nil
}

// quoted is an id as an SQL literal. Ids are made here and hold no quotes.
func (*bench) quoted(id string) string { return "'" + id + "'" }
