package page

import (
	"net/url"
	"time"

	"sluice/views/layout"
	"sluice/views/ui"
)

// Runs is the run list.
type Runs struct {
	Shell        layout.Shell
	Search       string
	Status       string
	Workflow     string
	WorkflowName string
	Chips        []Chip
	Items        []RunRow
	Cursor       string // of this part of the list
	Next         string
}

// Chip is a filter by status.
type Chip struct {
	Status string // "" is all
	Count  int64
}

// RunRow is a line of it.
type RunRow struct {
	ID, WorkflowName, Status, By, Error string
	Version                             int
	CreatedAt, StartedAt, EndedAt       time.Time
}

// URL is where the run is inspected.
func (r RunRow) URL() string { return "/runs/" + r.ID }

// Took is how long the run took, or has taken.
func (r RunRow) Took() string {
	switch {
	case r.StartedAt.IsZero():
		return "–"
	case r.EndedAt.IsZero():
		return ui.Duration(time.Since(r.StartedAt))
	default:
		return ui.Duration(r.EndedAt.Sub(r.StartedAt))
	}
}

// Short is the end of the id, enough to tell runs apart.
func (r RunRow) Short() string { return r.ID[max(0, len(r.ID)-8):] }

func (r Runs) with(status, cursor string) string {
	v := url.Values{}
	for k, s := range map[string]string{"q": r.Search, "status": status, "workflow": r.Workflow, "cursor": cursor} {
		if s != "" {
			v.Set(k, s)
		}
	}
	if len(v) == 0 {
		return "/runs"
	}
	return "/runs?" + v.Encode()
}

// Filtered reports whether the list is narrowed by anything.
func (r Runs) Filtered() bool { return r.Search != "" || r.Status != "" || r.Workflow != "" }

// ChipURL is the list filtered by a status.
func (r Runs) ChipURL(status string) string { return r.with(status, "") }

// MoreURL is the next page.
func (r Runs) MoreURL() string { return r.with(r.Status, r.Next) }

// SelfURL is this page, for its refresh.
func (r Runs) SelfURL() string { return r.with(r.Status, r.Cursor) }

// Label names the filter.
func (c Chip) Label() string {
	if c.Status == "" {
		return "All"
	}
	return ui.StatusOf(c.Status).Label
}
