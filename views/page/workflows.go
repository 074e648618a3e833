package page

import (
	"net/url"
	"strconv"
	"time"

	"sluice/views/layout"
)

// Workflows is the workflow list.
type Workflows struct {
	Shell    layout.Shell
	Search   string
	Items    []WorkflowRow
	Next     string // cursor
	Examples []Example
}

// WorkflowRow is a line of it.
type WorkflowRow struct {
	ID, Name, Description string
	Published             int
	UpdatedBy             string
	UpdatedAt             time.Time
	LastRunID             string
	LastRunStatus         string
	LastRunAt             time.Time
}

// Example is a workflow to begin with.
type Example struct{ Slug, Name, Description string }

// URL is where the workflow is edited.
func (r WorkflowRow) URL() string { return "/workflows/" + r.ID }

// Version is the published version in words.
func (r WorkflowRow) Version() string {
	if r.Published == 0 {
		return "Draft"
	}
	return "v" + strconv.Itoa(r.Published)
}

// MoreURL is the next page.
func (w Workflows) MoreURL() string {
	return "/workflows?" + url.Values{"q": {w.Search}, "cursor": {w.Next}}.Encode()
}

// ImportResult is what an import gave.
type ImportResult struct {
	Shell  layout.Shell
	Error  string
	Issues []Issue
	Text   string
	// ID and Name are set when it was stored.
	ID, Name string
}

// Host is a page that a script fills.
type Host struct {
	Shell layout.Shell
	ID    string
	Name  string
}

// Errors counts the issues that keep the workflow from running.
func (r ImportResult) Errors() int {
	n := 0
	for _, i := range r.Issues {
		if i.Error {
			n++
		}
	}
	return n
}

// ErrorWords says how many errors have to be mended.
func (r ImportResult) ErrorWords() string {
	if n := r.Errors(); n != 1 {
		return strconv.Itoa(n) + " errors are mended"
	}
	return "an error is mended"
}
