package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"sluice/engine"
	"sluice/engine/gormstore"
	"sluice/engine/jobs"
	"sluice/engine/trace"
	"sluice/models"
	"sluice/web"
	"sluice/web/api"
	"sluice/web/app"
	"sluice/web/auth"
	"sluice/web/live"
)

// App is the whole product, joined. It opens what it needs in order and closes it
// in reverse.
type App struct {
	cfg      *config
	log      *slog.Logger
	db       *models.DB
	service  *app.Service
	store    *gormstore.Store
	queue    *jobs.Queue
	engine   *engine.Engine
	tracer   *trace.Fanout
	peers    *app.Peers
	live     *live.Server
	auth     *auth.Authenticator
	server   *http.Server
	listener net.Listener
	baseURL  string
	metrics  *prometheus.Registry
	hub      *trace.Hub
	// closers are run in reverse by Close.
	closers []func(context.Context) error
}

// jobDelay is how long the durable job leaves a run to the process that stored it.
const jobDelay = 10 * time.Second

// openApp opens the database and everything that works on it, but serves nothing
// and works nothing yet. more are kinds beside the built-in ones.
func openApp(ctx context.Context, cfg *config, log *slog.Logger, more ...engine.Kind) (*App, error) {
	a := &App{cfg: cfg, log: log}
	if err := a.open(ctx, more); err != nil {
		return nil, errors.Join(err, a.Close(context.WithoutCancel(ctx)))
	}
	return a, nil
}

func (a *App) onClose(f func(context.Context) error) { a.closers = append(a.closers, f) }

func (a *App) open(ctx context.Context, more []engine.Kind) error {
	var err error
	if a.db, err = models.Open(ctx, a.cfg.DatabaseURL); err != nil {
		return err
	}
	a.onClose(func(context.Context) error { return a.db.Close() })
	if _, err := a.db.Migrate(ctx); err != nil {
		return err
	}
	reg, err := registry(a.cfg, app.Recipes{DB: a.db}, more...)
	if err != nil {
		return err
	}
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err := a.openEngine(ctx, reg, metrics); err != nil {
		return err
	}
	a.service = &app.Service{DB: a.db, Engine: a.engine, Registry: reg, Ended: a.live.SignedOut}
	return nil
}

// openEngine joins store, queue, tracer and engine.
func (a *App) openEngine(ctx context.Context, reg *engine.Registry, metrics *prometheus.Registry) error {
	var err error
	if a.queue, err = jobs.New(a.db, jobs.Options{Logger: a.log}); err != nil {
		return err
	}
	delay := jobDelay
	if !a.cfg.worker() {
		delay = 0
	}
	a.store = gormstore.New(a.db, gormstore.Options{Jobs: a.queue, Delay: delay, WebOnly: !a.cfg.worker()})
	if err := a.store.Start(ctx); err != nil {
		return err
	}
	a.onClose(a.store.Stop)
	hub := trace.NewHub()
	types := make([]string, 0, len(reg.Specs()))
	for _, s := range reg.Specs() {
		types = append(types, s.Type)
	}
	counted, err := trace.NewMetrics(metrics, types)
	if err != nil {
		return err
	}
	a.tracer = trace.NewFanout(hub, nil, trace.NewStored(app.Spans{DB: a.db}, a.log), counted)
	if err := a.tracer.Start(ctx); err != nil {
		return err
	}
	a.onClose(a.tracer.Stop)
	a.engine, err = engine.New(engine.Config{
		Store: a.store, Definitions: a.store, Registry: reg, Tracer: a.tracer, Logger: a.log, Lease: a.cfg.Lease, Grace: a.cfg.Grace,
	})
	if err != nil {
		return err
	}
	a.onClose(a.engine.Stop)
	a.peers = app.NewPeers(app.PeerOptions{DB: a.db, Hub: hub, Engine: a.engine, Works: a.cfg.worker(), Due: a.store.Due, Log: a.log})
	return a.openWeb(hub, metrics)
}

// openWeb joins pages, API and websocket.
func (a *App) openWeb(hub *trace.Hub, metrics *prometheus.Registry) error {
	a.auth = auth.New(a.db, false)
	a.live = live.New(a.db, hub, api.View(a.db), a.auth.Check, a.log)
	a.auth.OnEnded(a.live.SignedOut)
	for _, m := range []struct {
		name, help string
		value      func() float64
	}{
		{"sluice_live_clients", "Open websockets.", func() float64 { return float64(a.live.Clients()) }},
		{"sluice_active_runs", "Runs that this process works.", func() float64 { return float64(a.engine.ActiveRuns()) }},
		{"sluice_stuck_attempts", "Attempts that go on although their time is up.", func() float64 { return float64(a.engine.StuckAttempts()) }},
	} {
		g := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: m.name, Help: m.help}, m.value)
		if err := metrics.Register(g); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	metrics.MustRegister(dropped{a.tracer})
	a.onClose(func(context.Context) error { a.live.Close(); return nil })
	a.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	a.metrics, a.hub = metrics, hub
	return nil
}

// Listen takes the address. The base URL follows from it.
func (a *App) Listen(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", a.cfg.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	a.listener = l
	a.baseURL, err = a.cfg.baseURL(l.Addr())
	if err != nil {
		return errors.Join(err, l.Close())
	}
	a.service.Engine = a.engine
	a.auth.Secure(strings.HasPrefix(a.baseURL, "https://"))
	handler, err := web.New(web.Deps{
		App: a.service, Auth: a.auth, API: api.New(api.Deps{App: a.service, Hub: a.hub, Log: a.log, Version: version}),
		Live: a.live, Metrics: a.metrics, Log: a.log, BaseURL: a.baseURL, Version: version, Demo: a.cfg.demo(), ProbesOnly: !a.cfg.web(),
	})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	a.server.Handler = handler
	return nil
}

// Run serves and works until ctx ends, then closes everything.
func (a *App) Run(ctx context.Context) error {
	if a.cfg.worker() {
		if err := a.engine.Start(ctx); err != nil {
			return err
		}
		if err := a.queue.Start(ctx, a.engine, a.store); err != nil {
			return err
		}
		a.onClose(a.queue.Stop)
	}
	if err := a.peers.Start(ctx); err != nil {
		return err
	}
	a.onClose(a.peers.Stop)
	failed := make(chan error, 1)
	go func() { failed <- a.server.Serve(a.listener) }()
	a.onClose(a.server.Shutdown)
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
		return nil
	}
}

// closeTimeout bounds a graceful stop beyond the steps' own grace time.
const closeTimeout = 15 * time.Second

// Close closes everything in reverse order. Safe to call twice.
func (a *App) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Grace+closeTimeout)
	defer cancel()
	var errs []error
	for _, v := range slices.Backward(a.closers) {
		errs = append(errs, v(ctx))
	}
	a.closers = nil
	return errors.Join(errs...)
}

// dropped reports the spans that sinks have lost.
type dropped struct{ f *trace.Fanout }

var droppedDesc = prometheus.NewDesc("sluice_trace_dropped_total", "Spans that a sink has lost.", []string{"sink"}, nil)

// Describe implements [prometheus.Collector].
func (dropped) Describe(ch chan<- *prometheus.Desc) { ch <- droppedDesc }

// Collect implements [prometheus.Collector].
func (d dropped) Collect(ch chan<- prometheus.Metric) {
	for name, n := range d.f.Dropped() {
		ch <- prometheus.MustNewConstMetric(droppedDesc, prometheus.CounterValue, float64(n), name)
	}
}
