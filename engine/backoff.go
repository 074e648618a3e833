package engine

import "time"

// jitterMS is the width of the random part of a backoff, in milliseconds.
const jitterMS = 1_000

// backoff returns the wait before the next try, after `attempt` tries have
// failed: min(max, base·2^(attempt-1) + jitter), jitter below one second. The
// exponent is clamped before the shift, so no attempt number overflows. At the
// cap the jitter is taken off instead of being added, so that clients which
// failed together do not come back together, and the wait is never below base.
func backoff(p RetryPolicy, attempt int, jitter func(n int64) int64) time.Duration {
	base, limit := p.BaseMS, p.MaxMS
	if base <= 0 {
		base = DefaultBaseMS
	}
	if limit <= 0 {
		limit = DefaultMaxMS
	}
	if limit < base {
		limit = base
	}
	j := jitter(min(jitterMS, base))
	wait := base
	for i := 1; i < attempt && wait < limit; i++ {
		wait *= 2
	}
	if wait+j > limit {
		wait = max(limit-j, base)
	} else {
		wait += j
	}
	return time.Duration(min(wait, limit)) * time.Millisecond
}
