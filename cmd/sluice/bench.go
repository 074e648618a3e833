package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"sluice/engine"
	"sluice/models"
	"sluice/web/app"
	"sluice/web/auth"
)

// benchCommand measures the works that people compare engines by, on the real
// engine and the real store with full durability: SQLite with synchronous=FULL,
// PostgreSQL with synchronous_commit=on.
type benchCommand struct {
	Dir      string   `type:"path" help:"Where the SQLite file is made. Default: a temporary directory; mind that it may be in memory." placeholder:"DIR"`
	Postgres string   `help:"Measure this PostgreSQL server as well. A database is made on it and dropped." placeholder:"URL"`
	Works    []string `help:"Only these works, such as W1,W2."`
	Rounds   int      `default:"1" help:"How many times more rounds than needed for a first figure."`
	History  int      `default:"100000" help:"Finished runs in the tables when W7 is measured the second time."`
	JSON     bool     `name:"json" help:"Print the figures as JSON."`
	Profile  string   `type:"path" help:"Write a CPU profile of the works to this file." placeholder:"FILE"`
}

// figure is one measured value.
type figure struct {
	Database string  `json:"database"`
	Work     string  `json:"work"`
	What     string  `json:"what"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`
	// Goal is what the engine is meant to reach at least (or at most: times, sizes).
	Goal float64 `json:"goal,omitempty"`
	// Floor is the same work without an engine: decode, compute, encode, and wait for
	// one writer that groups. Zero where there is none.
	Floor float64 `json:"floor,omitempty"`
}

// perSecond figures are better when larger, all others when smaller.
func (f figure) met() bool {
	if strings.HasSuffix(f.Unit, "/s") {
		return f.Value >= f.Goal
	}
	return f.Value <= f.Goal
}

// ratio is how many times the floor the work takes.
func (f figure) ratio() float64 {
	if strings.HasSuffix(f.Unit, "/s") {
		return f.Floor / f.Value
	}
	return f.Value / f.Floor
}

// Run measures and prints a table.
func (c *benchCommand) Run(ctx context.Context, s streams, _ *config) (err error) {
	dir := c.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "sluice-bench-"); err != nil {
			return fmt.Errorf("make a directory: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	databases := []benchDatabase{{name: "SQLite", url: "sqlite:" + filepath.Join(dir, "bench.db")}}
	if c.Postgres != "" {
		pg, drop, err := ownDatabase(ctx, c.Postgres)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, drop(context.WithoutCancel(ctx))) }()
		databases = append(databases, pg)
	}
	if c.Profile != "" {
		f, err := os.Create(c.Profile)
		if err != nil {
			return fmt.Errorf("write profile: %w", err)
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return fmt.Errorf("write profile: %w", err)
		}
		defer pprof.StopCPUProfile()
	}
	var all []figure
	for _, d := range databases {
		figures, err := c.measure(ctx, s, d)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		all = append(all, figures...)
	}
	if c.JSON {
		return writeJSON(s.out, all)
	}
	return printFigures(s.out, all)
}

// benchDatabase is a database to measure on.
type benchDatabase struct{ name, url string }

// bench is the product on a fresh database, with an effect that does nothing.
type bench struct {
	*App
	database benchDatabase
	who      auth.Principal
	effect   *benchEffect
	rounds   int
	figures  []figure
	progress io.Writer
}

func (b *bench) add(work, what string, value float64, unit string, goal, floor float64) {
	b.figures = append(b.figures, figure{Database: b.database.name, Work: work, What: what, Value: value, Unit: unit, Goal: goal, Floor: floor})
}

// work is a named measurement.
type work struct {
	name string
	do   func(ctx context.Context, b *bench) error
}

func (c *benchCommand) measure(ctx context.Context, s streams, d benchDatabase) ([]figure, error) {
	works := []work{
		{"limits", measureLimits},
		{"W1", measureChains},
		{"W2", measureManyChains},
		{"W3", measureFanOut},
		{"W4", measureLoops},
		{"W5", measureRequests},
		{"W6", measureProcess},
		{"W7", c.measureAnswers},
	}
	var figures []figure
	for _, w := range works {
		if len(c.Works) > 0 && !slices.Contains(c.Works, w.name) {
			continue
		}
		fmt.Fprintf(s.err, "%s %s …\n", d.name, w.name)
		b, done, err := openBench(ctx, d, max(1, c.Rounds))
		if err != nil {
			return nil, err
		}
		b.progress = s.err
		err = errors.Join(w.do(ctx, b), done())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		figures = append(figures, b.figures...)
	}
	return figures, nil
}

// openBench starts the product on a database, as serving it would.
func openBench(ctx context.Context, d benchDatabase, rounds int) (*bench, func() error, error) {
	cfg := &config{Addr: "127.0.0.1:0", DatabaseURL: d.url, Role: "all", Lease: 30 * time.Second, Grace: time.Second}
	effect := &benchEffect{}
	a, err := openApp(ctx, cfg, slog.New(slog.DiscardHandler), effect)
	if err != nil {
		return nil, nil, err
	}
	closeAll := func() error { return a.Close(context.WithoutCancel(ctx)) }
	if err := a.Listen(ctx); err != nil {
		return nil, nil, errors.Join(err, closeAll())
	}
	owner, _, err := a.db.Bootstrap(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, closeAll())
	}
	run, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- a.Run(run) }()
	b := &bench{App: a, database: d, effect: effect, rounds: rounds, who: auth.Principal{
		AccountID: owner.AccountID, UserID: owner.ID, Name: owner.Name, Role: owner.Role,
	}}
	return b, func() error {
		stop()
		return errors.Join(<-ended, closeAll())
	}, nil
}

// workflow stores a definition and returns its id.
func (b *bench) workflow(ctx context.Context, doc string) (string, error) {
	w, err := b.service.Create(ctx, b.who, []byte(doc), "")
	if err != nil {
		return "", err
	}
	if w.Issues.HasErrors() {
		return "", fmt.Errorf("workflow of the benchmark: %s", w.Issues[0].Message)
	}
	_, err = b.service.Publish(ctx, b.who, w.ID, w.DraftRevision, "")
	return w.ID, err
}

// run starts a run and waits for its end.
func (b *bench) run(ctx context.Context, workflow, input string) error {
	run, _, err := b.service.Start(ctx, b.who, app.StartRequest{WorkflowID: workflow, Input: json.RawMessage(input)})
	if err != nil {
		return err
	}
	for !run.Status.Terminal() {
		if run, err = b.engine.Await(ctx, b.who.AccountID, run.ID); err != nil {
			return err
		}
	}
	if run.Status != engine.RunSucceeded {
		return fmt.Errorf("run %s is %s: %w", run.ID, run.Status, run.Error)
	}
	return nil
}

// timed runs f n times and returns the times in order.
func timed(n int, f func() error) ([]time.Duration, error) {
	out := make([]time.Duration, n)
	for i := range out {
		began := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		out[i] = time.Since(began)
	}
	slices.Sort(out)
	return out, nil
}

// quantile of ordered times, in milliseconds.
func quantile(times []time.Duration, q float64) float64 {
	return ms(times[min(len(times)-1, int(q*float64(len(times))))])
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func printFigures(out io.Writer, figures []figure) error {
	fmt.Fprintf(out, "%d processors, %s, %s\n\n", runtime.NumCPU(), runtime.GOARCH, runtime.Version())
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "database\twork\twhat\tmeasured\tgoal\tfloor\t× floor")
	for _, f := range figures {
		goal, floor, ratio := "", "", ""
		if f.Goal != 0 {
			mark := "met"
			if !f.met() {
				mark = "missed"
			}
			goal = fmt.Sprintf("%.4g %s", f.Goal, mark)
		}
		if f.Floor != 0 {
			floor, ratio = fmt.Sprintf("%.4g", f.Floor), fmt.Sprintf("%.2f", f.ratio())
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.4g %s\t%s\t%s\t%s\n", f.Database, f.Work, f.What, f.Value, f.Unit, goal, floor, ratio)
	}
	return w.Flush()
}

// ownDatabase makes a database on a PostgreSQL server, and a function that drops it.
func ownDatabase(ctx context.Context, serverURL string) (benchDatabase, func(context.Context) error, error) {
	admin, err := models.Open(ctx, serverURL)
	if err != nil {
		return benchDatabase{}, nil, err
	}
	name := "sluice_bench_" + strings.ReplaceAll(models.NewID(), "-", "")
	if _, err := admin.SQL().ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return benchDatabase{}, nil, errors.Join(fmt.Errorf("make database: %w", err), admin.Close())
	}
	u, err := withDatabase(serverURL, name)
	if err != nil {
		return benchDatabase{}, nil, errors.Join(err, admin.Close())
	}
	return benchDatabase{"PostgreSQL", u}, func(ctx context.Context) error {
		_, err := admin.SQL().ExecContext(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		return errors.Join(err, admin.Close())
	}, nil
}
