package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// built is the binary under test, made once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sluice-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "sluice")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

const testToken = "slt_test_bootstrap_token_0123456789abcdef"

// server is the real binary on a database that outlives it.
type server struct {
	t        *testing.T
	database string
	env      []string
	cmd      *exec.Cmd
	url      string
	link     string
	exited   chan struct{}
	log      *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newServer starts the binary on a database.
func newServer(t *testing.T, database string, env ...string) *server {
	t.Helper()
	s := &server{t: t, database: database, env: env}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *server) start() {
	s.t.Helper()
	bin, err := built()
	require.NoError(s.t, err)
	s.log = &lockedBuffer{}
	s.cmd = exec.Command(bin, "serve")
	s.cmd.Env = append(os.Environ(), "SLUICE_ADDR=127.0.0.1:0", "SLUICE_DATABASE_URL="+s.database,
		"SLUICE_BOOTSTRAP_TOKEN="+testToken, "SLUICE_HTTP_ALLOW_PRIVATE=true", "SLUICE_LEASE=3s", "OPENAI_API_KEY=", "OPENAI_BASE_URL=")
	s.cmd.Env = append(s.cmd.Env, s.env...)
	stdout, err := s.cmd.StdoutPipe()
	require.NoError(s.t, err)
	s.cmd.Stderr = s.log
	require.NoError(s.t, s.cmd.Start())
	s.exited = make(chan struct{})
	ready := make(chan struct{})
	go func() {
		lines := bufio.NewScanner(stdout)
		told := false
		for lines.Scan() {
			fmt.Fprintln(s.log, lines.Text())
			for word := range strings.FieldsSeq(lines.Text()) {
				switch {
				case strings.HasPrefix(word, "http://") && strings.Contains(word, "/login/"):
					s.link = word
				case strings.HasPrefix(word, "http://"):
					s.url = word
				}
			}
			if s.url != "" && !told && strings.Contains(lines.Text(), "ready") {
				told = true
				close(ready)
			}
		}
		_ = s.cmd.Wait()
		close(s.exited)
	}()
	select {
	case <-ready:
	case <-s.exited:
		s.t.Fatalf("the server ended at once:\n%s", s.log)
	case <-time.After(60 * time.Second):
		s.t.Fatalf("the server did not become ready:\n%s", s.log)
	}
}

// kill ends the server as a power cut would.
func (s *server) kill() {
	_ = s.cmd.Process.Signal(syscall.SIGKILL)
	<-s.exited
}

func (s *server) restart() {
	s.t.Helper()
	s.kill()
	s.start()
}

// call sends a request with the bootstrap token and decodes the answer.
func (s *server) call(method, path string, body any, into any, header ...string) int {
	s.t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		require.NoError(s.t, err)
		in = bytes.NewReader(raw)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 90*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.url+"/api/v1"+path, in)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+testToken)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	if into != nil {
		require.NoError(s.t, json.Unmarshal(raw, into), "%s %s: %d %s", method, path, res.StatusCode, raw)
	}
	if res.StatusCode >= 500 {
		s.t.Fatalf("%s %s: %d %s\n%s", method, path, res.StatusCode, raw, s.log)
	}
	return res.StatusCode
}

type apiRun struct {
	ID     string          `json:"id"`
	Status string          `json:"status"`
	Output json.RawMessage `json:"output"`
	Error  json.RawMessage `json:"error"`
}

type apiStep struct {
	NodeID   string          `json:"node_id"`
	Address  string          `json:"address"`
	Status   string          `json:"status"`
	Attempts int             `json:"attempts"`
	Result   json.RawMessage `json:"result"`
	EndedAt  time.Time       `json:"ended_at"`
}

type apiApproval struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	Title   string `json:"title"`
	Status  string `json:"status"`
}

func (s *server) importWorkflow(doc string) string {
	s.t.Helper()
	var w struct {
		ID string `json:"id"`
	}
	require.Equal(s.t, http.StatusCreated, s.call("POST", "/workflows", doc, &w))
	return w.ID
}

func (s *server) startRun(workflow, input string) apiRun {
	s.t.Helper()
	var run apiRun
	code := s.call("POST", "/workflows/"+workflow+"/runs", `{"input":`+input+`}`, &run)
	require.Contains(s.t, []int{200, 201, 202}, code, "%+v", run)
	return run
}

// await polls the API until the run has one of the statuses.
func (s *server) await(runID string, statuses ...string) apiRun {
	s.t.Helper()
	deadline := time.NewTimer(60 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var run apiRun
		require.Equal(s.t, http.StatusOK, s.call("GET", "/runs/"+runID, nil, &run))
		if slices.Contains(statuses, run.Status) {
			return run
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			s.t.Fatalf("run %s is %s (%s), not %v\n%s", runID, run.Status, run.Error, statuses, s.log)
		}
	}
}

func (s *server) approvals(runID string) []apiApproval {
	s.t.Helper()
	var list struct {
		Items []apiApproval `json:"items"`
	}
	require.Equal(s.t, http.StatusOK, s.call("GET", "/approvals?status=pending&run="+runID, nil, &list))
	return list.Items
}

func (s *server) steps(runID string) []apiStep {
	s.t.Helper()
	var list struct {
		Items []apiStep `json:"items"`
	}
	require.Equal(s.t, http.StatusOK, s.call("GET", "/runs/"+runID+"/steps", nil, &list))
	return list.Items
}

func caseDoc(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "engine", "testdata", "cases", name))
	require.NoError(t, err)
	return string(b)
}
