-- What an agent's session wrote before a memory is its context; `number` follows the name of the session in the index.
CREATE INDEX memory_session ON memory (json_extract(source, '$.session'))
  WHERE json_extract(source, '$.session') IS NOT NULL;
