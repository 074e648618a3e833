package enginetest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"sluice/engine"
)

// Effects counts what reached the outside, by idempotency key. It is a kind in
// process ([Effects.Probe]) or a server ([Effects.Serve]) that counts requests by
// their Idempotency-Key.
type Effects struct {
	mu    sync.Mutex
	begun map[string]int
	ended map[string]int
}

// NewEffects counts from zero.
func NewEffects() *Effects { return &Effects{begun: map[string]int{}, ended: map[string]int{}} }

// Begin notes that an effect has started, End that it has come to an end.
func (e *Effects) Begin(key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.begun[key]++
}

// End notes that an effect has been through.
func (e *Effects) End(key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended[key]++
}

// Begun is how often the effect of a key has started.
func (e *Effects) Begun(key string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.begun[key]
}

// Ended is how often the effect of a key was carried through.
func (e *Effects) Ended(key string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ended[key]
}

// Keys counts the different effects that have started.
func (e *Effects) Keys() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.begun)
}

// Probe is a kind that counts and then does what do says; nil echoes.
func (e *Effects) Probe(do func(ctx context.Context, in engine.Input) (engine.Output, error)) *Probe {
	return &Probe{Quiet: true, Do: func(ctx context.Context, in engine.Input) (out engine.Output, err error) {
		e.Begin(in.IdempotencyKey)
		if do == nil {
			out, err = Echo(in)
		} else {
			out, err = do(ctx, in)
		}
		if err == nil {
			e.End(in.IdempotencyKey)
		}
		return out, err
	}}
}

// Serve starts a server that counts requests by their Idempotency-Key and gives back
// the body it got, as JSON. It stops when the test ends.
func (e *Effects) Serve(t testing.TB) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		e.Begin(key)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		w.Header().Set("Content-Type", "application/json")
		if len(body) == 0 {
			body = []byte("{}")
		}
		if _, err := w.Write(body); err == nil {
			e.End(key)
		}
	}))
	t.Cleanup(s.Close)
	return s
}
