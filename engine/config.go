package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// decodeConfig reads a rendered config into v, refusing unknown fields.
func decodeConfig(config json.RawMessage, v any) error {
	if len(config) == 0 {
		config = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(config))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return Fatal(CodeConfig, fmt.Errorf("read config: %w", err))
	}
	return nil
}
