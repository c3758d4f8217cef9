-- The journal as its lists read it: narrow rows in the journal's own order, whatever a list filters by. New rows go to
-- the end, which keeps a commit small.
CREATE INDEX entry_list ON entry (seq, at, actor, agent, session, channel, action);
CREATE INDEX entry_note ON entry (seq, note) WHERE note <> '';
-- How much was done on which day, and by whom.
CREATE INDEX entry_day ON entry (actor, at);
-- What lost its text to a purge; nothing else is in it.
CREATE INDEX change_purged ON change (seq) WHERE nonce IS NULL;

-- Why a memory was put in front of a session: the numbers that made its score, as a JSON object.
ALTER TABLE injection ADD COLUMN why TEXT NOT NULL DEFAULT '{}';
CREATE INDEX injection_memory ON injection (memory_id);
