package engine_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/nodes"
)

// fakeKind is a kind made of functions; nil ones do nothing.
type fakeKind struct {
	spec     engine.Spec
	execute  func(ctx context.Context, in engine.Input) (engine.Output, error)
	validate func(config json.RawMessage) []engine.Issue
}

var (
	_ engine.Kind            = fakeKind{}
	_ engine.ConfigValidator = fakeKind{}
)

func (k fakeKind) Spec() engine.Spec { return k.spec }

func (k fakeKind) Execute(ctx context.Context, in engine.Input) (engine.Output, error) {
	if k.execute == nil {
		return engine.Output{}, nil
	}
	return k.execute(ctx, in)
}

func (k fakeKind) ValidateConfig(config json.RawMessage) []engine.Issue {
	if k.validate == nil {
		return nil
	}
	return k.validate(config)
}

// fakeSpec is an effect whose config takes anything.
func fakeSpec(typ string) engine.Spec {
	return engine.Spec{Type: typ, Title: typ, Group: "Test", Class: engine.Effect, Config: json.RawMessage(`{"type":"object"}`)}
}

// registryWith holds the built-in kinds, fakes of the kinds in the case files that
// are not built in, and more.
func registryWith(t testing.TB, more ...engine.Kind) *engine.Registry {
	t.Helper()
	built, err := nodes.Registry(nodes.Deps{})
	require.NoError(t, err)
	var kinds []engine.Kind
	for _, s := range built.Specs() {
		k, _ := built.Kind(s.Type)
		kinds = append(kinds, k)
	}
	for _, typ := range []string{"write_to_kb", "handoff", "browser_action"} {
		if _, ok := built.Kind(typ); !ok {
			kinds = append(kinds, fakeKind{spec: fakeSpec(typ)})
		}
	}
	reg, err := engine.NewRegistry(built.Schemas(), append(kinds, more...)...)
	require.NoError(t, err)
	return reg
}
