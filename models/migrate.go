package models

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"gorm.io/gorm"
)

//go:embed migrations
var migrations embed.FS

// Migration is one step of the schema.
type Migration struct {
	Version int
	Name    string
	sql     string
}

// Migrate brings the schema to this binary's version, the queue's tables included,
// and returns what it applied. A schema that is newer than the binary is an error.
func (d *DB) Migrate(ctx context.Context) ([]Migration, error) {
	all, err := d.migrations()
	if err != nil {
		return nil, err
	}
	unlock, err := d.lockMigrations(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	defer unlock()
	var applied []Migration
	err = d.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec("CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)").Error; err != nil {
			return fmt.Errorf("make schema_migrations: %w", err)
		}
		var current int
		if err := tx.Raw("SELECT COALESCE(MAX(version), 0) FROM schema_migrations").Scan(&current).Error; err != nil {
			return fmt.Errorf("read schema version: %w", err)
		}
		if last := all[len(all)-1].Version; current > last {
			return fmt.Errorf("the database has schema %d; this version of Sluice knows %d: use a newer one", current, last)
		}
		for _, m := range all {
			if m.Version <= current {
				continue
			}
			if err := apply(tx, m); err != nil {
				return err
			}
			applied = append(applied, m)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return applied, d.migrateQueue(ctx)
}

// lockMigrations makes servers that start together migrate one after the other. On
// PostgreSQL it holds a lock over all of it, on a connection of its own: the queue's
// migrations can't share one transaction.
func (d *DB) lockMigrations(ctx context.Context) (unlock func(), err error) {
	if d.Dialect != Postgres {
		return func() {}, nil
	}
	conn, err := pgx.ConnectConfig(ctx, d.pgx.Config().ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("lock migrations: %w", err)
	}
	unlock = func() { _ = conn.Close(context.WithoutCancel(ctx)) } // ends the lock
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", migrateLock); err != nil {
		unlock()
		return nil, fmt.Errorf("lock migrations: %w", err)
	}
	return unlock, nil
}

func apply(tx *gorm.DB, m Migration) error {
	for stmt := range strings.SplitSeq(m.sql, ";\n") {
		if strings.TrimSpace(stmt) == "" {
			continue
		}
		if err := tx.Exec(stmt).Error; err != nil {
			return fmt.Errorf("%04d_%s: %w", m.Version, m.Name, err)
		}
	}
	return tx.Exec("INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)", m.Version, m.Name, Now()).Error
}

// migrations reads the embedded files of the dialect.
func (d *DB) migrations() ([]Migration, error) {
	dir := "migrations/" + string(d.Dialect)
	files, err := fs.ReadDir(migrations, dir)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	var out []Migration
	for _, f := range files {
		number, name, ok := strings.Cut(strings.TrimSuffix(f.Name(), ".sql"), "_")
		version, err := strconv.Atoi(number)
		if !ok || err != nil {
			return nil, fmt.Errorf("the migration %q is not named NNNN_name.sql", f.Name())
		}
		text, err := migrations.ReadFile(dir + "/" + f.Name())
		if err != nil {
			return nil, fmt.Errorf("read migrations: %w", err)
		}
		out = append(out, Migration{Version: version, Name: name, sql: string(text)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Version < out[j].Version })
	return out, nil
}

// queueMigrationTries is well above the number of the queue's migrations.
const queueMigrationTries = 20

// migrateQueue makes the queue's own tables.
func (d *DB) migrateQueue(ctx context.Context) error {
	if d.Dialect == Postgres {
		return migrateWith(ctx, riverdatabasesql.New(d.SQL()))
	}
	// Nothing can be locked around these on SQLite: each is a transaction of its own.
	// One that another process has just applied fails whole, so go on from there.
	var err error
	for range queueMigrationTries {
		if err = migrateWith(ctx, riversqlite.New(d.SQL())); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func migrateWith[TTx any](ctx context.Context, driver riverdriver.Driver[TTx]) error {
	m, err := rivermigrate.New(driver, nil)
	if err != nil {
		return fmt.Errorf("set up the queue's migrations: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate the queue: %w", err)
	}
	return nil
}
