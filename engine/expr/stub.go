package expr

import (
	"context"
	"encoding/json"
	"errors"
)

type expression struct{}
type document struct{}

var errStub = errors.New("stub")

func compileExpression(string, Options) (*Expression, error)               { return nil, errStub }
func (expression) eval(context.Context, Env) (any, error)                  { return nil, errStub }
func (expression) evalBool(context.Context, Env) (bool, error)             { return false, errStub }
func (expression) references() []Reference                                 { return nil }
func compileDocument(json.RawMessage, Options) (*Document, []*SyntaxError) { return &Document{}, nil }
func (document) render(context.Context, Env) (json.RawMessage, error)      { return nil, errStub }
func (document) static() bool                                              { return false }
func (document) expressionAt(string) *Expression                           { return nil }
func (document) references() []Reference                                   { return nil }

// Decode reads JSON into the package's values.
func Decode([]byte) (any, error) { return nil, errStub }

// Encode writes a value as compact JSON without HTML escapes. It takes the
// package's own values and anything encoding/json takes.
func Encode(any) (json.RawMessage, error) { return nil, errStub }
