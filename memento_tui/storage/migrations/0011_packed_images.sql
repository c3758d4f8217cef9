-- An image that hardly differs from an earlier one of the same record is packed against it: `base` is the version of
-- that one, which is kept whole. Whoever reads the journal reads `change`, where every image is whole.
ALTER TABLE change RENAME TO stored_change;
ALTER TABLE stored_change ADD COLUMN base INTEGER;
ALTER TABLE stored_change ADD COLUMN packed BLOB;
CREATE VIEW change AS SELECT
  stored.seq, stored.ordinal, stored.record, stored.record_id, stored.version, stored.removed,
  CASE WHEN stored.packed IS NULL THEN stored.image ELSE unpacked(stored.packed, (
    SELECT whole.image FROM stored_change AS whole
    WHERE whole.record = stored.record AND whole.record_id = stored.record_id AND whole.version = stored.base
  )) END AS image,
  stored.nonce, stored.digest
FROM stored_change AS stored;

-- What maintenance notes of itself is named after it.
UPDATE setting SET name = 'last maintenance' WHERE name = 'last sleep';
UPDATE setting SET name = 'maintenance compared words up to' WHERE name = 'sleep compared words up to';
UPDATE setting SET name = 'maintenance compared meaning up to' WHERE name = 'sleep compared meaning up to';
