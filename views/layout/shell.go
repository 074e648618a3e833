// Package layout has the frames that pages stand in.
package layout

// Shell is what every page of a signed-in person shows around its content.
type Shell struct {
	Title   string
	Section string // of the sidebar
	User    string
	Pending int64 // open approvals
	Demo    bool  // no model is set up
	Version string
	Flash   string
	// Styles and Scripts are built files that the page needs besides its own.
	Styles  []string
	Scripts []string
}

// Item is a line of the sidebar.
type item struct {
	section, title, icon, href string
}

func items() []item {
	return []item{
		{"workflows", "Workflows", "workflow", "/workflows"},
		{"runs", "Runs", "play", "/runs"},
		{"approvals", "Approvals", "inbox", "/approvals"},
		{"recipes", "Recipes", "book-open", "/recipes"},
	}
}
