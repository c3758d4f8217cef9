-- What happened, in order. A row is never changed, and each one's hash covers the one before.
CREATE TABLE entry (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  origin TEXT NOT NULL,
  at TEXT NOT NULL,
  actor TEXT NOT NULL CHECK (actor IN ('person', 'agent', 'system')),
  agent TEXT NOT NULL,
  session TEXT NOT NULL,
  channel TEXT NOT NULL,
  action TEXT NOT NULL,
  note TEXT NOT NULL,
  batch TEXT NOT NULL,
  undoes INTEGER,
  previous_hash BLOB NOT NULL,
  hash BLOB NOT NULL
) STRICT;
CREATE INDEX entry_undoes ON entry (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX entry_batch ON entry (batch) WHERE batch <> '';

-- What each entry did to each record. A purge empties image and nonce; the digest stays, so the chain still holds.
CREATE TABLE change (
  seq INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  record TEXT NOT NULL,
  record_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  removed INTEGER NOT NULL,
  image TEXT,
  nonce BLOB,
  digest BLOB NOT NULL,
  PRIMARY KEY (seq, ordinal)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX change_record ON change (record, record_id, version);

CREATE TABLE memory (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  content TEXT NOT NULL,
  namespace TEXT NOT NULL,
  title TEXT NOT NULL,
  kind TEXT NOT NULL,
  kind_raw TEXT NOT NULL,
  tags TEXT NOT NULL,
  system_tags TEXT NOT NULL,
  certainty INTEGER NOT NULL,
  confidence REAL NOT NULL,
  stability TEXT NOT NULL,
  source_type TEXT NOT NULL,
  source TEXT NOT NULL,
  sensitivity TEXT NOT NULL,
  injection_score REAL NOT NULL,
  validity_context TEXT NOT NULL,
  verified_at TEXT,
  verified_by TEXT NOT NULL,
  tier TEXT NOT NULL,
  status TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  valid_from TEXT,
  valid_to TEXT,
  expires_at TEXT,
  surprise REAL,
  extra TEXT NOT NULL,
  version INTEGER NOT NULL,
  digest BLOB NOT NULL
) STRICT;
-- Lists read this one index, whatever they filter by; new rows all go to its end, which keeps a commit small.
CREATE INDEX memory_recent ON memory (updated_at, number, status, namespace, kind);
CREATE INDEX memory_status ON memory (status, updated_at, number) WHERE status <> 'active';
CREATE INDEX memory_digest ON memory (digest);
CREATE INDEX memory_pinned ON memory (updated_at, number) WHERE pinned = 1;
CREATE INDEX memory_expires ON memory (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE memory_tag (
  tag TEXT NOT NULL COLLATE NOCASE,
  number INTEGER NOT NULL,
  PRIMARY KEY (tag, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE relation (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  src TEXT NOT NULL,
  dst TEXT NOT NULL,
  type TEXT NOT NULL,
  label TEXT NOT NULL,
  created_at TEXT NOT NULL,
  version INTEGER NOT NULL
) STRICT;
CREATE INDEX relation_src ON relation (src);
CREATE INDEX relation_dst ON relation (dst);

CREATE TABLE skip (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  item TEXT NOT NULL,
  reason TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  namespace TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  created_by TEXT NOT NULL,
  extra TEXT NOT NULL,
  version INTEGER NOT NULL
) STRICT;
CREATE INDEX skip_expires ON skip (expires_at);

CREATE TABLE item (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  category TEXT NOT NULL,
  content TEXT NOT NULL,
  status TEXT NOT NULL,
  priority INTEGER NOT NULL,
  tags TEXT NOT NULL,
  next_action TEXT NOT NULL,
  namespace TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  extra TEXT NOT NULL,
  version INTEGER NOT NULL
) STRICT;

CREATE TABLE crystal (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  content TEXT NOT NULL,
  parent TEXT NOT NULL,
  author TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at TEXT NOT NULL,
  extra TEXT NOT NULL,
  version INTEGER NOT NULL
) STRICT;

CREATE TABLE contradiction (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  older TEXT NOT NULL,
  newer TEXT NOT NULL,
  kind TEXT NOT NULL,
  older_spans TEXT NOT NULL,
  newer_spans TEXT NOT NULL,
  why TEXT NOT NULL,
  score REAL NOT NULL,
  status TEXT NOT NULL,
  resolution TEXT NOT NULL,
  resolved_by TEXT NOT NULL,
  resolved_at TEXT,
  created_at TEXT NOT NULL,
  version INTEGER NOT NULL
) STRICT;
CREATE INDEX contradiction_older ON contradiction (older);
CREATE INDEX contradiction_newer ON contradiction (newer);

CREATE TABLE proposal (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  target_id TEXT NOT NULL,
  base_version INTEGER NOT NULL,
  payload TEXT NOT NULL,
  reasons TEXT NOT NULL,
  evidence TEXT NOT NULL,
  state TEXT NOT NULL,
  proposed_by TEXT NOT NULL,
  session TEXT NOT NULL,
  created_at TEXT NOT NULL,
  later_until TEXT,
  decided_by TEXT NOT NULL,
  decided_at TEXT,
  note TEXT NOT NULL,
  version INTEGER NOT NULL
) STRICT;
CREATE INDEX proposal_state ON proposal (state, created_at, number);
CREATE INDEX proposal_target ON proposal (target_id);

-- Counters of use. They are not history: they bypass the journal, so that reading never grows it.
CREATE TABLE usage (
  record TEXT NOT NULL,
  record_id TEXT NOT NULL,
  shown INTEGER NOT NULL,
  used INTEGER NOT NULL,
  last_used_at TEXT,
  PRIMARY KEY (record, record_id)
) STRICT, WITHOUT ROWID;

-- What was put in front of which agent session.
CREATE TABLE injection (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  memory_id TEXT NOT NULL,
  memory_version INTEGER NOT NULL,
  session TEXT NOT NULL,
  channel TEXT NOT NULL,
  at TEXT NOT NULL,
  rank INTEGER NOT NULL,
  score REAL NOT NULL,
  tokens INTEGER NOT NULL,
  used_at TEXT
) STRICT;
CREATE INDEX injection_session ON injection (session, memory_id);

-- Which record came from where, so that an import run twice changes nothing.
CREATE TABLE import_ledger (
  source TEXT NOT NULL,
  key TEXT NOT NULL,
  record TEXT NOT NULL,
  record_id TEXT NOT NULL,
  digest BLOB NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (source, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
