-- The sessions of agents that hooks serve. What was injected before `fresh_at` is no longer in the agent's context.
CREATE TABLE hook_session (
  session TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  namespace TEXT NOT NULL,
  fresh_at TEXT NOT NULL,
  transcript TEXT NOT NULL,
  -- Bytes of the transcript that were learned from.
  learned INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Notes of a vault are asked for by their path.
CREATE INDEX memory_note_path ON memory (json_extract(extra, '$.vault.path'))
  WHERE json_extract(extra, '$.vault.path') IS NOT NULL;

-- What a person stands behind is told at the beginning of every session; `memory_pinned` has the other half of it.
CREATE INDEX memory_essential ON memory (updated_at, number) WHERE tier = 'shared' AND stability = 'stable';
