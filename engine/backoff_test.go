package engine

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPromise13TheBackoffHoldsForEveryAttempt promises that the wait between two
// attempts is min(30 s, 2 s · 2^n + jitter): above zero, never above the limit,
// growing up to it, whatever the attempt number.
func TestPromise13TheBackoffHoldsForEveryAttempt(t *testing.T) {
	t.Parallel()
	highest := func(n int64) int64 { return n - 1 }
	lowest := func(int64) int64 { return 0 }
	last := time.Duration(0)
	for _, p := range []RetryPolicy{{}, {BaseMS: 1, MaxMS: 1}, {BaseMS: 60_000, MaxMS: 30_000}, {BaseMS: math.MaxInt64 / 2, MaxMS: math.MaxInt64 / 2_000_000}} {
		limit := time.Duration(max(p.MaxMS, p.BaseMS)) * time.Millisecond
		if p.MaxMS == 0 {
			limit = 30 * time.Second
		}
		for attempt := 1; attempt <= 1_000_000; attempt += 1 + attempt/50 {
			for _, jitter := range []func(int64) int64{lowest, highest} {
				d := backoff(p, attempt, jitter)
				if p.BaseMS > 1_000_000 {
					continue // nobody waits a million hours; it must only not panic
				}
				require.Positive(t, d, "%v, attempt %d", p, attempt)
				require.LessOrEqual(t, d, limit, "%v, attempt %d", p, attempt)
			}
			if p == (RetryPolicy{}) {
				d := backoff(p, attempt, lowest)
				require.GreaterOrEqual(t, d, last)
				last = d
				if attempt <= 5 {
					require.Equal(t, min(limit, time.Duration(2_000<<(attempt-1))*time.Millisecond), d)
				}
			}
		}
	}
}
