-- Times are UTC microseconds since 1970; JSON is text.
CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  email TEXT NOT NULL,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX users_email ON users (account_id, email);

CREATE TABLE departments (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX departments_name ON departments (account_id, name);

CREATE TABLE memberships (
  department_id TEXT NOT NULL REFERENCES departments(id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  PRIMARY KEY (department_id, user_id)
);

CREATE TABLE sessions (
  token TEXT PRIMARY KEY,
  data TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE login_tokens (
  hash TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  expires_at BIGINT NOT NULL,
  used_at BIGINT,
  created_at BIGINT NOT NULL
);

CREATE TABLE api_tokens (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  hint TEXT NOT NULL,
  last_used_at BIGINT,
  created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX api_tokens_hash ON api_tokens (hash);

CREATE TABLE workflows (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  search TEXT NOT NULL,
  draft TEXT NOT NULL,
  draft_revision BIGINT NOT NULL,
  updated_by TEXT NOT NULL,
  published_version BIGINT NOT NULL,
  published_at BIGINT,
  deleted_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX workflows_list ON workflows (account_id, updated_at);

-- The text of a version, once for equal versions.
CREATE TABLE definitions (
  hash TEXT PRIMARY KEY,
  body TEXT NOT NULL
);

-- Version 0 is a draft that was run without being published.
CREATE TABLE workflow_versions (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  workflow_id TEXT NOT NULL REFERENCES workflows(id),
  version BIGINT NOT NULL,
  hash TEXT NOT NULL REFERENCES definitions(hash),
  notes TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX workflow_versions_workflow ON workflow_versions (workflow_id, version);
CREATE UNIQUE INDEX workflow_versions_number ON workflow_versions (workflow_id, version) WHERE version > 0;
CREATE UNIQUE INDEX workflow_versions_draft ON workflow_versions (workflow_id, hash) WHERE version = 0;

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  workflow_id TEXT NOT NULL,
  version_id TEXT NOT NULL,
  definition_hash TEXT NOT NULL,
  status TEXT NOT NULL,
  input TEXT NOT NULL,
  variables TEXT NOT NULL,
  output TEXT NOT NULL,
  error TEXT NOT NULL,
  usage TEXT NOT NULL,
  idempotency_key TEXT,
  started_by TEXT NOT NULL,
  parent_run_id TEXT NOT NULL,
  parent_address TEXT NOT NULL,
  depth BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  lease_owner TEXT NOT NULL,
  lease_until BIGINT,
  wakeups BIGINT NOT NULL,
  span_seq BIGINT NOT NULL,
  wake_at BIGINT,
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  ended_at BIGINT
);
CREATE UNIQUE INDEX runs_idempotency ON runs (account_id, workflow_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX runs_list ON runs (account_id, created_at);
CREATE INDEX runs_status ON runs (account_id, status, created_at);
CREATE INDEX runs_workflow ON runs (account_id, workflow_id, created_at);
CREATE INDEX runs_live ON runs (status, created_at) WHERE status IN ('queued', 'running', 'waiting', 'pending_approval');

CREATE TABLE step_records (
  run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  round BIGINT NOT NULL,
  node_id TEXT NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  attempt BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  input TEXT NOT NULL,
  output TEXT NOT NULL,
  error TEXT NOT NULL,
  handle TEXT NOT NULL,
  taken TEXT NOT NULL,
  variables TEXT NOT NULL,
  decision TEXT NOT NULL,
  next_attempt_at BIGINT,
  park_id TEXT NOT NULL,
  usage TEXT NOT NULL,
  warning TEXT NOT NULL,
  superseded BOOLEAN NOT NULL,
  recoveries BIGINT NOT NULL,
  started_at BIGINT,
  ended_at BIGINT,
  PRIMARY KEY (run_id, address, round)
);

CREATE TABLE parks (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  round BIGINT NOT NULL,
  node_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  body TEXT NOT NULL,
  reason TEXT NOT NULL,
  opened_at BIGINT NOT NULL,
  closed_at BIGINT
);
CREATE INDEX parks_run ON parks (run_id, status);

-- An approval shares its park's id.
CREATE TABLE approvals (
  id TEXT PRIMARY KEY REFERENCES parks(id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  workflow_id TEXT NOT NULL,
  address TEXT NOT NULL,
  node_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  department TEXT NOT NULL,
  assignees TEXT NOT NULL,
  content TEXT NOT NULL,
  schema TEXT NOT NULL,
  outcomes TEXT NOT NULL,
  search TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT NOT NULL,
  due_at BIGINT,
  opened_at BIGINT NOT NULL,
  closed_at BIGINT
);
CREATE INDEX approvals_inbox ON approvals (account_id, status, opened_at);
CREATE INDEX approvals_run ON approvals (run_id);

CREATE TABLE decisions (
  park_id TEXT PRIMARY KEY REFERENCES parks(id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  actor TEXT NOT NULL,
  outcome TEXT NOT NULL,
  comment TEXT NOT NULL,
  data TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE spans (
  run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  seq BIGINT NOT NULL,
  account_id TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (run_id, id)
);
CREATE INDEX spans_seq ON spans (run_id, seq);

CREATE TABLE recipes (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  search TEXT NOT NULL,
  latest_version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX recipes_name ON recipes (account_id, name);

CREATE TABLE recipe_versions (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  recipe_id TEXT NOT NULL REFERENCES recipes(id) ON DELETE CASCADE,
  version BIGINT NOT NULL,
  system TEXT NOT NULL,
  prompt TEXT NOT NULL,
  input_schema TEXT NOT NULL,
  output_schema TEXT NOT NULL,
  model TEXT NOT NULL,
  parameters TEXT NOT NULL,
  notes TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX recipe_versions_number ON recipe_versions (recipe_id, version);

CREATE TABLE audit_events (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts(id),
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX audit_events_list ON audit_events (account_id, created_at);
