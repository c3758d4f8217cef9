-- Tags are found in whatever case, in every script: this table holds them folded, a memory as they were written.
DELETE FROM memory_tag;
INSERT OR IGNORE INTO memory_tag SELECT fold(value), memory.number FROM memory, json_each(memory.tags);

-- What the source said last, where the record says something else since: a person changed it, or it was here before.
ALTER TABLE import_ledger ADD COLUMN said TEXT;
