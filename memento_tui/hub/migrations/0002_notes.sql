-- The note of an entry is signed by a digest of its own, so that a purge may empty it: entries of format 2 and later.
ALTER TABLE memento.entry ADD COLUMN note_nonce bytea, ADD COLUMN note_digest bytea;

-- Append entries to the journal, all or none. Each change names the version that it was made from. Its statements look
-- few rows up by their keys: a plan that was made while the tables were small must not read them whole later. Who listens is told of the new end; that is a hint and nothing more.
CREATE OR REPLACE FUNCTION memento.append(in_workspace text, in_member text, in_entries jsonb)
RETURNS TABLE (entry_id text, entry_seq bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = memento, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  of_role text;
  one jsonb;
  last_seq bigint;
  last_hash bytea;
  next_hash bytea;
  known bigint;
  moved record;
BEGIN
  SELECT l.role INTO of_role FROM login AS l JOIN member AS m ON m.workspace = l.workspace AND m.login = l.name
    WHERE l.workspace = in_workspace AND l.name = session_user AND l.revoked_at IS NULL
      AND m.id = in_member AND m.revoked_at IS NULL;
  IF of_role IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'MH403', MESSAGE = 'this machine is no member of the hub any more';
  ELSIF of_role = 'reader' THEN
    RAISE EXCEPTION USING ERRCODE = 'MH403', MESSAGE = 'a reader appends nothing';
  END IF;
  SELECT h.seq, h.hash INTO last_seq, last_hash FROM head AS h WHERE h.workspace = in_workspace FOR UPDATE;
  FOR one IN SELECT value FROM jsonb_array_elements(in_entries) LOOP
    -- Written so that the index by id alone can serve it: while the tables have no statistics, the primary key looks
    -- as cheap, and reads the whole workspace.
    SELECT e.seq INTO known FROM entry AS e WHERE e.id = one ->> 'id' AND e.workspace || '' = in_workspace;
    IF FOUND THEN
      entry_id := one ->> 'id';
      entry_seq := known;
      RETURN NEXT;
      CONTINUE;
    END IF;
    IF of_role = 'agent' THEN
      IF one ->> 'actor' = 'person' THEN
        RAISE EXCEPTION USING ERRCODE = 'MH405', MESSAGE = 'an agent''s login writes nothing in a person''s name';
      END IF;
      PERFORM 1 FROM jsonb_array_elements(one -> 'changes') AS c
        LEFT JOIN record AS r ON r.workspace = in_workspace AND r.record = c ->> 'record' AND r.record_id = c ->> 'record_id'
        LEFT JOIN change AS b ON b.workspace = in_workspace AND b.seq = r.seq AND b.record = r.record
          AND b.record_id = r.record_id
        WHERE is_decision(c ->> 'record', b.image::jsonb, (c ->> 'image')::jsonb);
      IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'MH405', MESSAGE = 'an agent''s login appends no decision';
      END IF;
      PERFORM 1 FROM jsonb_array_elements(one -> 'changes') AS c
        JOIN change AS b ON b.workspace = in_workspace AND b.record = 'proposal' AND b.record_id = c ->> 'record_id'
          AND b.version = 1
        JOIN entry AS e ON e.workspace = in_workspace AND e.seq = b.seq
        WHERE c ->> 'record' = 'proposal' AND e.member <> in_member;
      IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'MH405', MESSAGE = 'an agent''s login changes no proposal of another member';
      END IF;
    END IF;
    SELECT c ->> 'record' AS record, c ->> 'record_id' AS record_id INTO moved
      FROM jsonb_array_elements(one -> 'changes') AS c
      LEFT JOIN record AS r ON r.workspace = in_workspace AND r.record = c ->> 'record' AND r.record_id = c ->> 'record_id'
      WHERE coalesce(r.version, 0) <> (c ->> 'base')::bigint LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION USING ERRCODE = 'MH409', MESSAGE = moved.record || ' ' || moved.record_id || ' has changed';
    END IF;
    SELECT p.record, p.record_id INTO moved FROM jsonb_array_elements(one -> 'changes') AS c
      JOIN purged AS p ON p.workspace = in_workspace AND p.record = c ->> 'record' AND p.record_id = c ->> 'record_id'
      WHERE NOT (c ->> 'removed')::boolean LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION USING ERRCODE = 'MH409', MESSAGE = moved.record || ' ' || moved.record_id || ' was purged';
    END IF;
    last_seq := last_seq + 1;
    next_hash := sha256(last_hash || int8send(last_seq) || decode(one ->> 'content', 'hex')
      || decode(one ->> 'signature', 'hex'));
    INSERT INTO entry (workspace, seq, id, member, role, format, origin, at, actor, agent, session, channel, action,
        note, note_nonce, note_digest, content, signature, previous_hash, hash)
      VALUES (in_workspace, last_seq, one ->> 'id', in_member, of_role, (one ->> 'format')::integer, one ->> 'origin',
        one ->> 'at', one ->> 'actor', one ->> 'agent', one ->> 'session', one ->> 'channel', one ->> 'action',
        one ->> 'note', decode(one ->> 'note_nonce', 'hex'), decode(one ->> 'note_digest', 'hex'),
        decode(one ->> 'content', 'hex'), decode(one ->> 'signature', 'hex'), last_hash, next_hash);
    INSERT INTO change (workspace, seq, ordinal, record, record_id, version, removed, image, nonce, digest)
      SELECT in_workspace, last_seq, (n - 1)::integer, c ->> 'record', c ->> 'record_id', (c ->> 'base')::bigint + 1,
        (c ->> 'removed')::boolean, c ->> 'image', decode(c ->> 'nonce', 'hex'), decode(c ->> 'digest', 'hex')
      FROM jsonb_array_elements(one -> 'changes') WITH ORDINALITY AS x (c, n);
    INSERT INTO record AS r (workspace, record, record_id, version, seq)
      SELECT in_workspace, c ->> 'record', c ->> 'record_id', (c ->> 'base')::bigint + 1, last_seq
      FROM jsonb_array_elements(one -> 'changes') AS c
      ON CONFLICT (workspace, record, record_id) DO UPDATE SET version = excluded.version, seq = excluded.seq;
    last_hash := next_hash;
    entry_id := one ->> 'id';
    entry_seq := last_seq;
    RETURN NEXT;
  END LOOP;
  UPDATE head AS h SET seq = last_seq, hash = last_hash WHERE h.workspace = in_workspace;
  PERFORM pg_notify('memento ' || in_workspace, last_seq::text);
END
$$;

-- Tell whether the login of this session may purge as a member.
CREATE FUNCTION memento.may_purge(in_workspace text, in_member text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = memento, pg_temp AS $$
  SELECT EXISTS (
    SELECT 1 FROM login AS l JOIN member AS m ON m.workspace = l.workspace AND m.login = l.name
    WHERE l.workspace = in_workspace AND l.name = session_user AND l.revoked_at IS NULL
      AND m.id = in_member AND m.revoked_at IS NULL AND l.role IN ('reviewer', 'owner')
  )
$$;

-- Remove the text of every version of a record and the notes of the entries about it, for a leaked secret, as somebody
-- who may decide. An entry about other records keeps no note either: it may quote any of them.
CREATE OR REPLACE FUNCTION memento.purge_record(in_workspace text, in_member text, in_record text, in_record_id text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = memento, pg_temp AS $$
BEGIN
  IF NOT may_purge(in_workspace, in_member) THEN
    RAISE EXCEPTION USING ERRCODE = 'MH403', MESSAGE = 'only a reviewer or an owner purges';
  END IF;
  INSERT INTO purged (workspace, record, record_id) VALUES (in_workspace, in_record, in_record_id)
    ON CONFLICT DO NOTHING;
  UPDATE change SET image = NULL, nonce = NULL
    WHERE workspace = in_workspace AND record = in_record AND record_id = in_record_id AND NOT removed;
  UPDATE entry AS e SET note = '', note_nonce = NULL
    FROM change AS c WHERE c.workspace = in_workspace AND c.record = in_record AND c.record_id = in_record_id
      AND e.workspace = c.workspace AND e.seq = c.seq AND e.note_digest IS NOT NULL AND e.action <> 'purge';
END
$$;

-- Remove the note of one entry, as somebody who may decide.
CREATE FUNCTION memento.purge_note(in_workspace text, in_member text, in_entry text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = memento, pg_temp AS $$
BEGIN
  IF NOT may_purge(in_workspace, in_member) THEN
    RAISE EXCEPTION USING ERRCODE = 'MH403', MESSAGE = 'only a reviewer or an owner purges';
  END IF;
  UPDATE entry SET note = '', note_nonce = NULL
    WHERE workspace = in_workspace AND id = in_entry AND note_digest IS NOT NULL;
END
$$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA memento FROM PUBLIC;

-- Who took part before takes part still.
DO $$
DECLARE
  one text;
BEGIN
  FOR one IN SELECT DISTINCT l.name FROM memento.login AS l JOIN pg_roles AS r ON r.rolname = l.name LOOP
    EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA memento TO %I', one);
  END LOOP;
END
$$;
