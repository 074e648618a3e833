package models

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Listener hears the pings of other servers on a connection of its own. A lost
// connection is made again; since pings may have been missed meanwhile, each new one
// begins with a ping that says so.
type Listener struct {
	db   *DB
	log  *slog.Logger
	hear func(Ping)

	mu     sync.Mutex
	cancel context.CancelFunc
	done   chan struct{}
}

const (
	// quietFor is how long nothing may be heard until the connection is tried, and
	// tryFor how long it then has to answer.
	quietFor = 30 * time.Second
	tryFor   = 10 * time.Second
	// Waits before a lost connection is made again.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 15 * time.Second
)

// NewListener returns a listener that calls hear for each ping, one after the other.
// hear must not take long.
func NewListener(db *DB, log *slog.Logger, hear func(Ping)) *Listener {
	return &Listener{db: db, log: log, hear: hear}
}

// Start starts listening; on SQLite there is nobody to listen to. Safe to call twice.
func (l *Listener) Start(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.db.Dialect != Postgres || l.done != nil {
		return nil
	}
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	l.done = make(chan struct{})
	go func() {
		defer close(l.done)
		l.run(ctx)
	}()
	return nil
}

// Stop ends listening. Safe to call twice, and without Start.
func (l *Listener) Stop(ctx context.Context) error {
	l.mu.Lock()
	cancel, done := l.cancel, l.done
	l.mu.Unlock()
	if done == nil {
		return nil
	}
	cancel()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop listening: %w", ctx.Err())
	}
}

func (l *Listener) run(ctx context.Context) {
	wait := firstRetry
	for {
		heard, err := l.listen(ctx)
		if ctx.Err() != nil {
			return
		}
		if heard {
			wait = firstRetry
		}
		l.log.Warn("other servers are not heard", "err", err, "retry_in", wait)
		pause := time.NewTimer(wait/2 + rand.N(wait/2+1)) //nolint:gosec // spreads retries, guards nothing
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
		wait = min(2*wait, lastRetry)
	}
}

// listen hears pings until the connection fails. heard tells that it was good once.
func (l *Listener) listen(ctx context.Context) (heard bool, err error) {
	conn, err := pgx.ConnectConfig(ctx, l.db.pgx.Config().ConnConfig)
	if err != nil {
		return false, fmt.Errorf("connect: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tryFor)
		defer cancel()
		_ = conn.Close(ctx) // it may be the connection that has failed
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+pingChannel); err != nil {
		return false, fmt.Errorf("listen: %w", err)
	}
	l.hear(Ping{Lost: true})
	for {
		if err := l.next(ctx, conn); err != nil {
			return true, err
		}
	}
}

// next hears one ping, or makes sure that the silence is one.
func (l *Listener) next(ctx context.Context, conn *pgx.Conn) error {
	quiet, cancel := context.WithTimeout(ctx, quietFor)
	defer cancel()
	n, err := conn.WaitForNotification(quiet)
	switch {
	case err == nil:
		l.take(n.Payload)
		return nil
	case ctx.Err() != nil || quiet.Err() == nil:
		return fmt.Errorf("wait: %w", err)
	}
	try, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	if err := conn.Ping(try); err != nil {
		return fmt.Errorf("try the connection: %w", err)
	}
	return nil
}

func (l *Listener) take(payload string) {
	var p Ping
	if err := json.Unmarshal([]byte(payload), &p); err != nil {
		// A server of a later version: what it tells is not understood.
		l.hear(Ping{Lost: true})
		return
	}
	if p.Origin != l.db.origin {
		l.hear(p)
	}
}
