-- What the hub is known to hold of each shared record: its version there, and its JSON, as a version of the journal
-- here where that is the same (`local_version`), in full (`image`) where it is not. Neither: it was removed there.
CREATE TABLE IF NOT EXISTS hub_record (
  record TEXT NOT NULL,
  record_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  local_version INTEGER,
  image TEXT,
  PRIMARY KEY (record, record_id)
) STRICT, WITHOUT ROWID;

-- Which entry of the hub is which of this journal. `seq` and `hash` are the hub's: NULL until they are known.
-- `local_seq` is NULL where an entry of the hub changed nothing here.
CREATE TABLE IF NOT EXISTS hub_entry (
  id TEXT PRIMARY KEY,
  local_seq INTEGER,
  seq INTEGER,
  hash BLOB
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS hub_entry_seq ON hub_entry (seq) WHERE seq IS NOT NULL;
