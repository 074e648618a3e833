// Package trace carries the span tree from the engine to whoever watches: the
// database, live viewers and Prometheus. It is fire and forget: [Fanout] never
// blocks the engine; a sink that can't keep up loses spans, which are counted.
package trace
