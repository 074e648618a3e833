package page

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice/views/layout"
)

// Approvals is the inbox: a list, and the approval that is open.
type Approvals struct {
	Shell   layout.Shell
	Status  string // pending or decided
	Search  string
	Items   []ApprovalRow
	Cursor  string // of this part of the list
	Next    string
	Current *Approval
	Error   string  // of the last answer
	Issues  []Issue // of its content
}

// ApprovalRow is a line of the list.
type ApprovalRow struct {
	ID, Title, Workflow, Preview, Status string
	Answer                               string // in words, once there is one
	OpenedAt                             time.Time
}

// Approval is one question with everything that an approver needs.
type Approval struct {
	ID, Title, Workflow, RunID, Address, Step, Department, Status string
	HTML                                                          string // sanitised
	Content                                                       string // text or indented JSON
	ContentIsText                                                 bool
	Editable                                                      bool
	Fields                                                        []ContentField
	Outcomes                                                      []Outcome
	NeedsComment                                                  bool
	MayDecide                                                     bool
	OpenedAt, DueAt, DecidedAt                                    time.Time
	DecidedBy, Outcome, Comment, Data, Reason                     string
	// Kept from an answer that was refused.
	GivenComment string
}

// Outcome is a button.
type Outcome struct {
	ID, Label, Tone, Key string
	RequireComment       bool
}

// Class is how the button looks.
func (o Outcome) Class() string {
	switch o.Tone {
	case "success":
		return "btn btn-success"
	case "danger":
		return "btn btn-danger"
	default:
		return "btn"
	}
}

// ContentField is a field of the content's form.
type ContentField struct {
	Name, Title, Hint, Value, Kind string // Kind: text, long, choice, number, boolean, json
	Options                        []string
}

// URL is the inbox with an approval open.
func (a Approvals) URL(id string) string { return a.with(id, "") }

// MoreURL is the next part of the list.
func (a Approvals) MoreURL() string { return a.with("", a.Next) }

// SelfURL is this page, for its refresh.
func (a Approvals) SelfURL() string {
	if a.Current != nil {
		return a.with(a.Current.ID, a.Cursor)
	}
	return a.with("", a.Cursor)
}

func (a Approvals) with(id, cursor string) string {
	path := "/approvals"
	if id != "" {
		path += "/" + id
	}
	v := url.Values{}
	if a.Status != "pending" {
		v.Set("status", a.Status)
	}
	if a.Search != "" {
		v.Set("q", a.Search)
	}
	if cursor != "" {
		v.Set("cursor", cursor)
	}
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

// Open tells the layout on narrow screens which side to show.
func (a Approvals) Open() string {
	if a.Current != nil {
		return "true"
	}
	return "false"
}

// IsCurrent reports whether a row is the open one.
func (a Approvals) IsCurrent(id string) bool { return a.Current != nil && a.Current.ID == id }

// Unlisted reports whether the value is none of the options: then a choice has an
// empty one as well, so that nothing is chosen by accident.
func (f ContentField) Unlisted() bool { return !slices.Contains(f.Options, f.Value) }

func contentKind(c Approval) string {
	if c.ContentIsText {
		return "text"
	}
	return "json"
}

// areaText is a textarea's text. HTML drops a line end that stands first, so such a
// text gets another one in front.
func areaText(s string) string {
	if strings.HasPrefix(s, "\n") || strings.HasPrefix(s, "\r") {
		return "\n" + s
	}
	return s
}
