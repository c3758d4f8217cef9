-- Tags are found however their accents are written: this table holds them folded, a memory as they were written.
DELETE FROM memory_tag;
INSERT OR IGNORE INTO memory_tag SELECT fold(value), memory.number FROM memory, json_each(memory.tags);
