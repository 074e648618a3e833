package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	sqlitegorm "github.com/libtnb/sqlite"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	_ "modernc.org/sqlite" // the SQLite driver
)

// badText is PostgreSQL's error code for text that it can't keep.
const badText = "22021"

// Dialect is the kind of database.
type Dialect string

// The dialects.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// ErrNotFound is returned by queries for one row that is not there, or belongs to
// another account.
var ErrNotFound = errors.New("not found")

// DB is an open database. Safe for concurrent use.
type DB struct {
	Dialect Dialect
	write   *gorm.DB
	read    *gorm.DB
	pools   []*sql.DB
	pgx     *pgxpool.Pool
	origin  string // of this process's pings
}

// Open opens "sqlite:PATH" or "postgres://…". The directory of a SQLite file is
// made. The schema is not touched; see [DB.Migrate].
func Open(ctx context.Context, databaseURL string) (*DB, error) {
	switch {
	case strings.HasPrefix(databaseURL, "sqlite:"):
		return openSQLite(ctx, strings.TrimPrefix(databaseURL, "sqlite:"))
	case strings.HasPrefix(databaseURL, "postgres://"), strings.HasPrefix(databaseURL, "postgresql://"):
		return openPostgres(ctx, databaseURL)
	default:
		scheme, _, _ := strings.Cut(databaseURL, ":")
		return nil, fmt.Errorf("the database URL must begin with sqlite: or postgres://, not %q", scheme)
	}
}

func gormConfig() *gorm.Config {
	return &gorm.Config{
		Logger: logger.Discard, SkipDefaultTransaction: true, TranslateError: true,
		NowFunc: func() time.Time { return time.Now().UTC() },
	}
}

func openSQLite(ctx context.Context, path string) (*DB, error) {
	if path == "" {
		return nil, errors.New("the database URL sqlite: names no file")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("make the database's directory: %w", err)
	}
	pragmas := "_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)&_pragma=foreign_keys(ON)&_pragma=cache_size(-16000)"
	base := "file:" + (&url.URL{Path: path}).EscapedPath() + "?"
	write, err := sql.Open("sqlite", base+"_txlock=immediate&"+pragmas)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	write.SetMaxOpenConns(1)
	if err := write.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), write.Close())
	}
	read, err := sql.Open("sqlite", base+"mode=ro&_pragma=busy_timeout(10000)&_pragma=query_only(ON)&_pragma=cache_size(-8000)")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), write.Close())
	}
	read.SetMaxOpenConns(max(4, runtime.NumCPU()))
	db := &DB{Dialect: SQLite, pools: []*sql.DB{write, read}}
	if db.write, err = gorm.Open(sqlitegorm.Dialector{Conn: write}, gormConfig()); err == nil {
		db.read, err = gorm.Open(sqlitegorm.Dialector{Conn: read}, gormConfig())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return db, nil
}

func openPostgres(ctx context.Context, databaseURL string) (*DB, error) {
	pool, err := pgxpool.New(ctx, databaseURL)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("reach PostgreSQL: %w", err)
	}
	conn := stdlib.OpenDBFromPool(pool)
	db := &DB{Dialect: Postgres, pools: []*sql.DB{conn}, pgx: pool, origin: NewID()}
	if db.write, err = gorm.Open(postgres.New(postgres.Config{Conn: conn}), gormConfig()); err != nil {
		return nil, errors.Join(fmt.Errorf("open PostgreSQL: %w", err), db.Close())
	}
	db.read = db.write
	return db, nil
}

// Close closes every connection.
func (d *DB) Close() error {
	var errs []error
	for _, p := range d.pools {
		errs = append(errs, p.Close())
	}
	if d.pgx != nil {
		d.pgx.Close()
	}
	return errors.Join(errs...)
}

// Read is a handle for queries.
func (d *DB) Read(ctx context.Context) *gorm.DB { return d.read.WithContext(ctx) }

// Write runs fn in a transaction that is committed if fn returns nil.
func (d *DB) Write(ctx context.Context, fn func(tx *gorm.DB) error) error {
	return d.write.WithContext(ctx).Transaction(fn)
}

// SQL is the pool that writes, for the queue and the engine's store.
func (d *DB) SQL() *sql.DB { return d.pools[0] }

// Pool is the native pool of PostgreSQL, nil on SQLite.
func (d *DB) Pool() *pgxpool.Pool { return d.pgx }

// Tx is the transaction that a handle given by [DB.Write] works in.
func Tx(tx *gorm.DB) (*sql.Tx, bool) {
	t, ok := tx.Statement.ConnPool.(*sql.Tx)
	return t, ok
}

// Advisory locks of PostgreSQL.
const (
	migrateLock   = 7_306_131
	bootstrapLock = 7_306_132
)

// alone makes the transaction wait for others that hold the lock. SQLite has one
// writer anyway.
func (d *DB) alone(tx *gorm.DB, lock int64) error {
	if d.Dialect != Postgres {
		return nil
	}
	return tx.Exec("SELECT pg_advisory_xact_lock(?)", lock).Error
}

// one turns a missing row into ErrNotFound, and so what can't be in any row: text
// that PostgreSQL refuses, which no id or token is.
func one(err error, what string, args ...any) error {
	var refused *pgconn.PgError
	unknown := errors.As(err, &refused) && refused.Code == badText
	if unknown || errors.Is(err, gorm.ErrRecordNotFound) {
		return fmt.Errorf(what+": %w", append(args, ErrNotFound)...)
	}
	if err != nil {
		return fmt.Errorf(what+": %w", append(args, err)...)
	}
	return nil
}
