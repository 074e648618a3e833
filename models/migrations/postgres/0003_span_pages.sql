-- Spans come in bursts of many small ones: a page holds those of one run that were
-- written together, one a line. Pages are added and never rewritten.
DROP TABLE spans;
CREATE TABLE span_pages (
  run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  first_seq BIGINT NOT NULL,
  last_seq BIGINT NOT NULL,
  account_id TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (run_id, last_seq, first_seq)
);
