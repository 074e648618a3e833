package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Fields by the type they must have. A value of another type is kept among the
// extra fields when a workflow is read, as the field can't hold it.
var (
	documentTypes = []fieldType{{"name", "text"}, {"description", "text"}, {"variables", "an object"}}
	nodeTypes     = []fieldType{
		{"type", "text"},
		{"label", "text"},
		{"parent", "text"},
		{"notes", "text"},
		{"on_error", "text"},
		{"on_interrupt", "text"},
		{"timeout_ms", "a whole number"},
		{"retry", "an object of whole numbers"},
	}
	edgeTypes = []fieldType{{"handle", "text"}, {"condition", "text"}}
)

type fieldType struct{ name, want string }

// checkMisfits refuses values that their fields could not hold: without them the
// workflow would do something else than what is written.
func (a *analysis) checkMisfits() {
	check := func(extra map[string]json.RawMessage, types []fieldType, node, prefix string) {
		for _, f := range types {
			if raw, ok := extra[f.name]; ok {
				a.fail("wrong_type", node, prefix+f.name, "Give it as "+f.want+".", "%s must be %s, not %s", f.name, f.want, excerpt(raw))
			}
		}
	}
	check(a.def.Extra, documentTypes, "", "")
	for i := range a.def.Nodes {
		n := &a.def.Nodes[i]
		check(n.Extra, nodeTypes, n.ID, "")
		if c := bytes.TrimLeft(n.Config, " \t\r\n"); len(c) > 0 && c[0] != '{' && string(c) != "null" {
			a.fail("wrong_type", n.ID, "config", "Give the config as an object.", "config must be an object, not %s", excerpt(c))
		}
	}
	for i := range a.def.Edges {
		check(a.def.Edges[i].Extra, edgeTypes, "", fmt.Sprintf("edges[%d].", i))
	}
}
