// Package modelstest gives tests real databases: a SQLite file, and a database of
// its own on a PostgreSQL server. The server is the one that TEST_DATABASE_URL
// names, or one that the test process starts from the installed binaries and
// stops at its end.
package modelstest

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the PostgreSQL driver
	"github.com/stretchr/testify/require"

	"sluice/models"
)

// Each runs a test on both databases, with the schema in place.
func Each(t *testing.T, test func(t *testing.T, db *models.DB)) {
	t.Helper()
	each(t, func(t *testing.T, databaseURL string) { test(t, Open(t, databaseURL)) })
}

// EachURL runs a test with the address of an empty database of each kind. When the
// test ends, what is in it is held against the invariants of [models.DB.Verify].
func EachURL(t *testing.T, test func(t *testing.T, databaseURL string)) {
	t.Helper()
	each(t, func(t *testing.T, databaseURL string) {
		t.Cleanup(func() { verifyURL(t, databaseURL) })
		test(t, databaseURL)
	})
}

func each(t *testing.T, test func(t *testing.T, databaseURL string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, PostgresURL(t))
	})
}

// SQLite opens a fresh SQLite database.
func SQLite(t testing.TB) *models.DB {
	t.Helper()
	return Open(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"))
}

// Open opens and migrates a database. When the test ends it is held against the
// invariants of [models.DB.Verify] and closed.
func Open(t testing.TB, databaseURL string) *models.DB {
	t.Helper()
	db, err := models.Open(context.Background(), databaseURL)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.Migrate(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { verify(t, db) })
	return db
}

// PostgresURL is the address of a fresh, empty PostgreSQL database.
func PostgresURL(t testing.TB) string {
	t.Helper()
	base, err := server()
	require.NoError(t, err, "PostgreSQL for tests")
	admin, err := sql.Open("pgx", base)
	require.NoError(t, err)
	defer admin.Close()
	name := "t_" + strings.ReplaceAll(models.NewID(), "-", "")
	_, err = admin.ExecContext(context.Background(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		admin, err := sql.Open("pgx", base)
		if err != nil {
			return
		}
		defer admin.Close()
		_, _ = admin.ExecContext(context.Background(), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	})
	u, err := url.Parse(base)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}

// server is the PostgreSQL server of this test process.
var server = sync.OnceValues(func() (string, error) {
	if u := os.Getenv("TEST_DATABASE_URL"); u != "" {
		return u, nil
	}
	return startServer()
})

// startServer makes a cluster in a temporary directory and starts it on a free
// port. A shell that holds a pipe from this process stops it and removes the
// directory when the process ends, however it ends.
func startServer() (string, error) {
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bins) == 0 {
		return "", fmt.Errorf("no PostgreSQL server is installed (run make deps) and TEST_DATABASE_URL is not set")
	}
	sort.Strings(bins)
	bin := bins[len(bins)-1]
	dir, err := os.MkdirTemp("", "sluice-postgres-")
	if err != nil {
		return "", err
	}
	cred, err := serverUser(dir)
	if err != nil {
		return "", err
	}
	data := filepath.Join(dir, "data")
	if out, err := run(cred, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"); err != nil {
		return "", fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	script := fmt.Sprintf(`trap '' INT TERM HUP
%[1]s/postgres -D %[2]s -p %[3]d -k %[4]s -c listen_addresses=127.0.0.1 -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=300 -c shared_buffers=64MB >%[4]s/log 2>&1 &
pg=$!
cat >/dev/null
kill -QUIT $pg; wait $pg; rm -rf %[4]s`, bin, data, port, dir)
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: cred}
	hold, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	cmd.Stdin = hold
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start PostgreSQL: %w", err)
	}
	_ = hold.Close()
	keep = append(keep, w)
	address := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	return address, ready(address, filepath.Join(dir, "log"))
}

// keep holds the writing end of the pipe open until the process ends.
var keep []*os.File

func ready(address, log string) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer db.Close()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 600 {
		if err = db.PingContext(context.Background()); err == nil {
			return nil
		}
		<-tick.C
	}
	text, _ := os.ReadFile(log)
	return fmt.Errorf("PostgreSQL did not start: %w\n%s", err, text)
}

// serverUser is whom the server runs as: PostgreSQL refuses to run as root.
func serverUser(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("find the user postgres: %w", err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func run(cred *syscall.Credential, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	return cmd.CombinedOutput()
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
