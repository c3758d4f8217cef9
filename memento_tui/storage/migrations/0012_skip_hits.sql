-- When a skip fired, for which session, and by which of its own words. What was asked is kept nowhere.
CREATE TABLE IF NOT EXISTS skip_hit (
  number INTEGER PRIMARY KEY,
  skip_id TEXT NOT NULL,
  session TEXT NOT NULL,
  channel TEXT NOT NULL,
  at TEXT NOT NULL,
  words TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS skip_hit_skip ON skip_hit (skip_id, number);
