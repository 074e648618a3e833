package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"

	"github.com/danielgtaylor/huma/v2"
)

// exactJSON reads and writes JSON. Numbers that no float holds, such as 1e999, are
// left to whoever takes the value as it stands: a schema check must not refuse them.
var exactJSON = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}

func unmarshal(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	target, untyped := into.(*any)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok || !untyped {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	*target = floats(v)
	return nil
}

// floats turns numbers into what a schema check knows; the largest float stands for
// those beyond.
func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			f = math.Copysign(math.MaxFloat64, f)
		}
		return f
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = floats(v[k])
		}
	}
	return v
}

// withoutValues keeps errors from sending back what was sent: it may be large, and
// a secret.
func withoutValues(_ huma.Context, _ string, v any) (any, error) {
	var details []*huma.ErrorDetail
	switch e := v.(type) {
	case *huma.ErrorModel:
		details = e.Errors
	case *problem:
		details = e.Errors
	}
	for _, d := range details {
		d.Value = nil
	}
	return v, nil
}
