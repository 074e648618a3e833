package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"sluice/models"
)

func TestVerifyDBFindsWhatNoRunMayLeaveBehind(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "sluice.db")
	code, out, errs := command(t, "", "run", casePath("diamond-skip.json"), "--db", "--database-url", url, "--input", `{"customer":{"id":1,"name":"a","tier":"basic"}}`)
	require.Equal(t, exitOK, code, "%s%s", out, errs)
	code, out, _ = command(t, "", "verify-db", "--database-url", url)
	require.Equal(t, exitOK, code, out)
	require.Contains(t, out, "keeps every invariant")

	db, err := models.Open(context.Background(), url)
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(tx *gorm.DB) error {
		return tx.Exec("UPDATE step_records SET status = 'running', attempt = 9, ended_at = NULL WHERE address = 'note'").Error
	}))
	require.NoError(t, db.Close())
	code, out, _ = command(t, "", "verify-db", "--database-url", url)
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, "a run that is over has no open step")
	code, out, _ = command(t, "", "verify-db", "--json", "--database-url", url)
	require.Equal(t, exitFailed, code)
	var answer struct {
		OK         bool
		Violations []models.Violation
	}
	require.NoError(t, json.Unmarshal([]byte(out), &answer))
	require.False(t, answer.OK)
	found := map[string]bool{}
	for _, v := range answer.Violations {
		found[v.Invariant] = true
	}
	require.True(t, found["attempts are within their limit"], out)
	require.True(t, found["a step begins when every step before it is over"], out)
}
