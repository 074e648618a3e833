package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

func sqliteServer(t *testing.T, env ...string) *server {
	t.Helper()
	return newServer(t, "sqlite:"+filepath.Join(t.TempDir(), "sluice.db"), env...)
}

// TestJourneyDrawSaveRunWatch draws a workflow by hand: a step from the palette,
// wired by its handles, saved, run and watched to its end.
func TestJourneyDrawSaveRunWatch(t *testing.T) {
	s := sqliteServer(t)
	b := newBrowser(t, s)
	b.see("Content pipeline") // the examples are there
	b.press("New workflow")
	b.wait("#create[open]")
	b.write("#new-name", "Drawn by hand")
	b.press("Create blank workflow")
	b.wait(".react-flow__node[data-id=start]")
	require.Equal(t, "Drawn by hand", b.text(`document.querySelector("[aria-label='Name of the workflow']").value`))

	// A step from the list, then wired by dragging between handles.
	b.until("the edge", `document.querySelectorAll(".react-flow__edge").length === 1`)
	b.press("Add a step")
	b.wait("#qa-list")
	option := `[...document.querySelectorAll("#qa-list [role=option]")].find(o => o.textContent.includes("Set values"))`
	b.until("the step in the list", option)
	require.True(t, b.js("("+option+").click() || true"))
	b.wait(".react-flow__node[data-id=set]")
	b.connect("start", "set")
	b.connect("set", "end")

	b.press("Save")
	b.see("Saved")
	b.press("Run")
	b.until("the run dialog", `document.querySelector("[role=dialog], dialog[open]")`)
	b.pressIn("dialog[open], [role=dialog]", "Run")
	b.until("the inspector", `location.pathname.startsWith("/runs/")`)
	b.see("Succeeded")
	b.see("Drawn by hand")
	b.until("every step", `["Start", "Done"].every(n => document.body.innerText.includes(n))`)
}

// connect drags from a node's output to another's input.
func (b *browser) connect(from, to string) {
	b.t.Helper()
	handle := func(id, kind string) string {
		return fmt.Sprintf(`.react-flow__node[data-id=%s] .react-flow__handle.%s`, id, kind)
	}
	b.wait(handle(from, "source"))
	b.wait(handle(to, "target"))
	before := b.text(`document.querySelectorAll(".react-flow__edge").length`)
	b.do(chromedp.DragAndDrop(handle(from, "source"), handle(to, "target")))
	b.until("an edge from "+from+" to "+to, `String(document.querySelectorAll(".react-flow__edge").length) !== "`+before+`"`)
}

// TestJourneyApproveInTheInbox answers an approval while the run is watched in
// another tab.
func TestJourneyApproveInTheInbox(t *testing.T) {
	s := sqliteServer(t)
	b := newBrowser(t, s)
	run := s.startRun(s.importWorkflow(caseDoc(t, "approval-in-loop.json")), threeItems)
	s.await(run.ID, "pending_approval")
	watcher := b.tab()
	watcher.open("/runs/" + run.ID)
	watcher.runIs("Needs approval")

	b.open("/approvals")
	b.until("the badge", `document.querySelector("[data-inbox-count]")?.textContent === "3"`)
	b.see("Publish 唐辛子?")
	for left := 2; left >= 0; left-- {
		b.click("[data-row]")
		b.wait("form[data-decide]")
		b.click(`form[data-decide] button[value=approve]`)
		b.until("the answer", fmt.Sprintf(`document.querySelector("[data-inbox-count]")?.textContent === "%d" && document.querySelector("[data-toast]")`, left))
	}
	b.see("All done")
	watcher.runIs("Succeeded")
	b.open("/approvals?status=decided")
	b.click("[data-row]")
	b.see("Owner")
}

// TestJourneyReloadAndReconnect reloads in the middle of a run, and loses the
// server for a while.
func TestJourneyReloadAndReconnect(t *testing.T) {
	s := sqliteServer(t)
	b := newBrowser(t, s)
	run := s.startRun(s.importWorkflow(caseDoc(t, "approval-in-loop.json")), threeItems)
	s.await(run.ID, "pending_approval")
	b.open("/runs/" + run.ID)
	b.runIs("Needs approval")
	other := b.tab()
	other.open("/runs/" + run.ID)
	other.runIs("Needs approval")
	b.do(chromedp.Reload())
	b.runIs("Needs approval")

	// The server dies and comes back on the same port while one approval is answered
	// behind the viewers' backs.
	port := s.url[strings.LastIndex(s.url, ":"):]
	s.env = append(s.env, "SLUICE_ADDR=127.0.0.1"+port)
	s.kill()
	b.until("the loss is shown", `/reconnecting|offline/i.test(document.body.innerText)`)
	s.start()
	for _, a := range s.approvals(run.ID) {
		require.Equal(t, http.StatusOK, s.call("POST", "/approvals/"+a.ID+"/decisions", `{"outcome":"approve"}`, nil))
	}
	s.await(run.ID, "succeeded")
	b.runIs("Succeeded")
	other.runIs("Succeeded")
	tree := `[...document.querySelectorAll("[role=treeitem]")].map(e => e.id + ":" + (e.dataset.status ?? "")).join()`
	b.until("the same tree in both tabs", `document.querySelectorAll("[role=treeitem]").length > 10`)
	other.until("the same tree in both tabs", `document.querySelectorAll("[role=treeitem]").length > 10`)
	require.Equal(t, b.text(tree), other.text(tree))
}

// TestJourneyTwoTabsEditTheSameWorkflow saves in two tabs: the second is refused,
// keeps what it has, and offers a way on.
func TestJourneyTwoTabsEditTheSameWorkflow(t *testing.T) {
	s := sqliteServer(t)
	id := s.importWorkflow(caseDoc(t, "diamond-skip.json"))
	first := newBrowser(t, s)
	second := first.tab()
	rename := func(b *browser, name string) {
		b.open("/workflows/" + id)
		b.wait(".react-flow__node[data-id=start]")
		b.write(`[aria-label="Name of the workflow"]`, name)
		b.see("Unsaved")
	}
	rename(first, " (first)")
	rename(second, " (second)")
	first.press("Save")
	first.see("Saved")
	second.press("Save")
	second.until("the conflict", `document.querySelector("[role=dialog], dialog[open]")`)
	second.see("copy")
	require.Contains(t, second.text(`document.querySelector("[aria-label='Name of the workflow']").value`), "(second)")
	second.press("Save a copy")
	second.until("the copy is open", fmt.Sprintf("location.pathname.startsWith('/workflows/') && !location.pathname.endsWith(%q)", id))
	var list struct {
		Items []struct{ Name string }
	}
	require.Equal(t, http.StatusOK, s.call("GET", "/workflows?q=diamond", nil, &list))
	require.Len(t, list.Items, 2)
}
