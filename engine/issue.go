package engine

// Severity tells whether an issue keeps a workflow from running.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Issue is one finding of validation. Field is a path inside the node
// ("config.prompt", "retry.max_attempts") or the document ("edges[3].target").
type Issue struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	NodeID   string   `json:"node_id,omitempty"`
	Field    string   `json:"field,omitempty"`
	Message  string   `json:"message"`
	Fix      string   `json:"fix,omitempty"`
}

// Issues is every finding of one validation.
type Issues []Issue

// HasErrors reports whether any issue keeps the workflow from running.
func (is Issues) HasErrors() bool {
	for _, i := range is {
		if i.Severity == SeverityError {
			return true
		}
	}
	return false
}

// Of returns the issues of one severity, in order.
func (is Issues) Of(s Severity) Issues {
	var out Issues
	for _, i := range is {
		if i.Severity == s {
			out = append(out, i)
		}
	}
	return out
}
