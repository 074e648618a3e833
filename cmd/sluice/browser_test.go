package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// browser is a headless Chromium that is signed in.
type browser struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // one tab of one test
	url string
}

// newBrowser starts a browser and signs in with the server's one-time link.
func newBrowser(t *testing.T, s *server) *browser {
	t.Helper()
	// Not t.TempDir: the browser may still write while it is being removed.
	dir, err := os.MkdirTemp("", "sluice-chromium-") //nolint:usetesting // see above
	require.NoError(t, err)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath("chromium"), chromedp.Headless, chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("user-data-dir", dir), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true))
	tab, cancelTab := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		cancelTab()
		cancel()
		_ = os.RemoveAll(dir)
	})
	b := &browser{t: t, ctx: tab, url: s.url}
	b.do(chromedp.EmulateViewport(1440, 900))
	b.open(s.link)
	b.click("button")
	b.wait(".sidebar")
	return b
}

// tab opens another tab of the same browser, signed in like the first.
func (b *browser) tab() *browser {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	n := &browser{t: b.t, ctx: ctx, url: b.url}
	n.do(chromedp.EmulateViewport(1440, 900))
	return n
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, steps...))
}

func (b *browser) open(address string) {
	b.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.url + address
	}
	b.do(chromedp.Navigate(address))
}

// js evaluates a boolean expression in the page.
func (b *browser) js(expression string) bool {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean(document.body && ("+expression+"))"))
	if err != nil && strings.Contains(err.Error(), "navigated") {
		return false // asked while one page gave way to the next
	}
	require.NoError(b.t, err, expression)
	return v
}

func (b *browser) text(expression string) string {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	require.NoError(b.t, err, expression)
	return v
}

// until waits for the page to make an expression true.
func (b *browser) until(what, expression string) {
	b.t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for !b.js(expression) {
		select {
		case <-tick.C:
		case <-deadline.C:
			b.t.Fatalf("%s did not happen; the page says:\n%s", what, b.text("document.body.innerText.slice(0, 2000)"))
		}
	}
}

func (b *browser) wait(selector string) {
	b.t.Helper()
	b.until(selector, fmt.Sprintf("document.querySelector(%q)", selector))
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.wait(selector)
	b.do(chromedp.Click(selector))
}

// write types a text at the end of a field, key by key.
func (b *browser) write(selector, text string) {
	b.t.Helper()
	b.wait(selector)
	field := fmt.Sprintf("document.querySelector(%q)", selector)
	require.True(b.t, b.js(field+".focus() || ("+field+".selectionStart = "+field+".value.length, true)"))
	b.do(chromedp.KeyEvent(text))
}

// press clicks the button (or link, or option) that has a text.
func (b *browser) press(label string) {
	b.t.Helper()
	b.pressIn("body", label)
}

// pressIn is press inside of what a selector finds.
func (b *browser) pressIn(scope, label string) {
	b.t.Helper()
	find := fmt.Sprintf(`[...(document.querySelector(%[2]q) ?? document.createElement("i")).querySelectorAll("button, a, [role=option], [role=menuitem]")].find(e => e.offsetParent !== null && !e.disabled && (e.innerText.trim() === %[1]q || e.getAttribute("aria-label") === %[1]q))`, label, scope)
	b.until("a button "+label, find)
	require.True(b.t, b.js("("+find+").click() || true"))
}

func (b *browser) see(text string) {
	b.t.Helper()
	b.until("the text "+text, fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// runBadge is the status of the run that the inspector shows.
const runBadge = `document.querySelector("header .st-badge")?.innerText ?? ""`

// runIs waits for the inspector to show a status of the whole run.
func (b *browser) runIs(status string) {
	b.t.Helper()
	b.until("the run being "+status, fmt.Sprintf("(%s) === %q", runBadge, status))
}
