-- Runs that wait for a time, among the many that wait for people.
CREATE INDEX runs_wake ON runs (wake_at) WHERE wake_at IS NOT NULL;
