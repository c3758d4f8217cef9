-- Clients of other systems ask for memories by the ids that they gave them.
CREATE INDEX memory_foreign_id ON memory (json_extract(extra, '$.foreign_id'))
  WHERE json_extract(extra, '$.foreign_id') IS NOT NULL;
