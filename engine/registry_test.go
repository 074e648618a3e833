package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
	"sluice/engine/nodes"
)

// registry holds the built-in kinds and a probe.
func registry(t testing.TB, probe *enginetest.Probe) *engine.Registry {
	t.Helper()
	built, err := nodes.Registry(nodes.Deps{})
	require.NoError(t, err)
	kinds := []engine.Kind{probe}
	for _, s := range built.Specs() {
		k, _ := built.Kind(s.Type)
		kinds = append(kinds, k)
	}
	reg, err := engine.NewRegistry(built.Schemas(), kinds...)
	require.NoError(t, err)
	return reg
}
