package ui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"

	"sluice/views/ui"
)

func draw(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, c.Render(t.Context(), &b))
	return b.String()
}

func TestDurationsReadWell(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0 µs": 0, "999 µs": 999 * time.Microsecond, "1 ms": time.Millisecond, "999 ms": 999 * time.Millisecond, "1.0 s": time.Second,
		"59.9 s": 59_900 * time.Millisecond, "1 min 00 s": time.Minute, "59 min 59 s": time.Hour - time.Millisecond, "1 h 00 min": time.Hour,
		"49 h 05 min": 49*time.Hour + 5*time.Minute,
	} {
		require.Equal(t, want, ui.Duration(d))
	}
	require.Equal(t, "1 min 00 s", ui.Duration(time.Minute-time.Millisecond), "no 60.0 s")
}

func TestAgesReadWell(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"just now": time.Second, "15 s ago": 15 * time.Second, "5 min ago": 5*time.Minute + time.Second, "3 h ago": 3*time.Hour + time.Second,
		"47 h ago": 47*time.Hour + time.Second, "2 days ago": 48*time.Hour + time.Second, "in 2 h": -2*time.Hour - time.Minute,
	} {
		require.Equal(t, want, ui.Ago(time.Now().Add(-d)))
	}
	require.Equal(t, "never", ui.Ago(time.Time{}))
}

func TestStatusesDifferByMoreThanColour(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, status := range []string{"queued", "running", "pending_approval", "waiting", "succeeded", "failed", "rejected", "cancelled"} {
		s := ui.StatusOf(status)
		require.NotEqual(t, status, s.Label)
		require.Empty(t, seen[s.Icon], "%s and %s look alike", status, seen[s.Icon])
		seen[s.Icon] = status
	}
	require.Equal(t, "new<b>", ui.StatusOf("new<b>").Label)
	require.NotContains(t, draw(t, ui.Badge("new<b>")), "<b>")
}

func TestEveryStatusHasItsIcon(t *testing.T) {
	t.Parallel()
	unknown := draw(t, ui.Icon("no-such-icon", 16))
	for _, status := range []string{"running", "pending_approval", "waiting", "succeeded", "failed", "rejected", "cancelled", "decided", "closed"} {
		require.NotEqual(t, unknown, draw(t, ui.Icon(ui.StatusOf(status).Icon, 16)), status)
	}
}

func TestInstantsSayExactlyWhen(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 23, 30, 0, 0, time.FixedZone("JST", 9*3600))
	html := draw(t, ui.When(at))
	require.Contains(t, html, `datetime="2026-03-01T14:30:00Z"`)
	require.Contains(t, html, `title="2026-03-01 14:30:00 UTC"`)
	require.Contains(t, draw(t, ui.When(time.Time{})), "never")
}
