-- What a proposal would do, as a digest: a rejection silences those that are the same.
ALTER TABLE proposal ADD COLUMN fingerprint TEXT NOT NULL DEFAULT '';
CREATE INDEX proposal_fingerprint ON proposal (fingerprint) WHERE fingerprint <> '';

-- Which sides lost certainty when a contradiction was found, and until when it was put off.
ALTER TABLE contradiction ADD COLUMN lowered TEXT NOT NULL DEFAULT '[]';
ALTER TABLE contradiction ADD COLUMN later_until TEXT;

-- In which sessions a memory was of use. Like the counters of use, it is not history.
CREATE TABLE confirmation (
  record_id TEXT NOT NULL,
  session TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (record_id, session)
) STRICT, WITHOUT ROWID;

-- How many of those sessions have moved the memory's certainty.
ALTER TABLE usage ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;
