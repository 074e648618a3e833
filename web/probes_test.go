package web_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"sluice/models/modelstest"
	"sluice/web"
	"sluice/web/webtest"
)

func TestAWorkerAnswersProbesAlone(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, modelstest.SQLite(t))
	h, err := web.New(web.Deps{App: w.App, Auth: w.Auth, Metrics: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler), ProbesOnly: true})
	require.NoError(t, err)
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/workflows": 404, "/api/v1/runs": 404} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		require.Equal(t, want, rec.Code, path)
	}
}
