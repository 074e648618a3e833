package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/models/modelstest"
)

func TestAWebServerLeavesItsRunsToAWorker(t *testing.T) {
	t.Parallel()
	database := modelstest.PostgresURL(t)
	web := newServer(t, database, "SLUICE_ROLE=web")
	newServer(t, database, "SLUICE_ROLE=worker")
	workflow := web.importWorkflow(caseDoc(t, "approval-in-loop.json"))
	var run apiRun
	code := web.call("POST", "/workflows/"+workflow+"/runs?wait=60s", `{"input":{"items":[{"name":"a","price":1}]}}`, &run)
	require.Equal(t, http.StatusCreated, code)
	require.Equal(t, "pending_approval", run.Status)
	for _, a := range web.approvals(run.ID) {
		require.Equal(t, http.StatusOK, web.call("POST", "/approvals/"+a.ID+"/decisions", `{"outcome":"approve"}`, nil))
	}
	require.Equal(t, "succeeded", web.await(run.ID, "succeeded", "failed").Status)
}
