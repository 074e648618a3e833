package memstore_test

import (
	"testing"

	"sluice/engine/enginetest"
	"sluice/engine/memstore"
)

func TestStore(t *testing.T) {
	t.Parallel()
	enginetest.RunStore(t, func(*testing.T) enginetest.Opened {
		return enginetest.Opened{Store: memstore.New(nil), AccountID: enginetest.Account, WorkflowID: "w", VersionID: "v", Hash: "h"}
	})
}
