-- A workspace is one shared journal. Several may stand in one database and know nothing of each other.
CREATE TABLE memento.workspace (
  id text PRIMARY KEY,
  name text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- The end of each journal. Whoever appends holds this row, so no entry is committed before one with a smaller number.
CREATE TABLE memento.head (
  workspace text PRIMARY KEY REFERENCES memento.workspace,
  seq bigint NOT NULL,
  hash bytea NOT NULL
);

-- What a login of PostgreSQL may do in a workspace.
CREATE TABLE memento.login (
  workspace text NOT NULL REFERENCES memento.workspace,
  name text NOT NULL,
  role text NOT NULL CHECK (role IN ('reader', 'agent', 'reviewer', 'owner')),
  revoked_at timestamptz,
  PRIMARY KEY (workspace, name)
);

-- The machines, and the keys that sign what they append. A key never changes.
CREATE TABLE memento.member (
  workspace text NOT NULL REFERENCES memento.workspace,
  id text NOT NULL,
  name text NOT NULL,
  login text NOT NULL,
  public_key bytea NOT NULL CHECK (length(public_key) = 32),
  joined_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  PRIMARY KEY (workspace, id),
  UNIQUE (workspace, name),
  FOREIGN KEY (workspace, login) REFERENCES memento.login (workspace, name)
);

-- The journal. `content` is the digest that the member signed, `hash` covers it, the signature and the entry before.
CREATE TABLE memento.entry (
  workspace text NOT NULL,
  seq bigint NOT NULL,
  id text NOT NULL,
  member text NOT NULL,
  role text NOT NULL,
  format integer NOT NULL,
  origin text NOT NULL,
  at text NOT NULL,
  actor text NOT NULL CHECK (actor IN ('person', 'agent', 'system')),
  agent text NOT NULL,
  session text NOT NULL,
  channel text NOT NULL,
  action text NOT NULL,
  note text NOT NULL,
  content bytea NOT NULL CHECK (length(content) = 32),
  signature bytea NOT NULL CHECK (length(signature) = 64),
  previous_hash bytea NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (workspace, seq),
  UNIQUE (id, workspace),
  FOREIGN KEY (workspace, member) REFERENCES memento.member (workspace, id),
  CHECK (actor <> 'person' OR role IN ('reviewer', 'owner'))
);

-- What each entry did to each record: its JSON afterwards. A purge empties image and nonce; the digest stays.
CREATE TABLE memento.change (
  workspace text NOT NULL,
  seq bigint NOT NULL,
  ordinal integer NOT NULL,
  record text NOT NULL CHECK (record IN ('memory', 'relation', 'skip', 'item', 'proposal')),
  record_id text NOT NULL,
  version bigint NOT NULL,
  removed boolean NOT NULL,
  image text,
  nonce bytea,
  digest bytea NOT NULL,
  PRIMARY KEY (workspace, seq, ordinal),
  UNIQUE (workspace, record, record_id, version)
);

-- The version at which each record stands, and the entry that made it.
CREATE TABLE memento.record (
  workspace text NOT NULL,
  record text NOT NULL,
  record_id text NOT NULL,
  version bigint NOT NULL,
  seq bigint NOT NULL,
  PRIMARY KEY (workspace, record, record_id)
);

-- The records whose text was purged: it is taken from nobody again.
CREATE TABLE memento.purged (
  workspace text NOT NULL REFERENCES memento.workspace,
  record text NOT NULL,
  record_id text NOT NULL,
  PRIMARY KEY (workspace, record, record_id)
);

-- The workspaces that the login of this session may read.
CREATE FUNCTION memento.my_workspaces() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = memento, pg_temp AS $$
  SELECT workspace FROM login WHERE name = session_user AND revoked_at IS NULL
$$;

-- The role of the login of this session in a workspace; NULL where it has none.
CREATE FUNCTION memento.my_role(in_workspace text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = memento, pg_temp AS $$
  SELECT role FROM login WHERE workspace = in_workspace AND name = session_user AND revoked_at IS NULL
$$;

ALTER TABLE memento.workspace ENABLE ROW LEVEL SECURITY;
ALTER TABLE memento.head ENABLE ROW LEVEL SECURITY;
ALTER TABLE memento.login ENABLE ROW LEVEL SECURITY;
ALTER TABLE memento.member ENABLE ROW LEVEL SECURITY;
ALTER TABLE memento.entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE memento.change ENABLE ROW LEVEL SECURITY;
ALTER TABLE memento.purged ENABLE ROW LEVEL SECURITY;
ALTER TABLE memento.record ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON memento.workspace FOR SELECT USING (id = ANY (ARRAY(SELECT memento.my_workspaces())));
CREATE POLICY own ON memento.head FOR SELECT USING (workspace = ANY (ARRAY(SELECT memento.my_workspaces())));
CREATE POLICY own ON memento.login FOR SELECT USING (workspace = ANY (ARRAY(SELECT memento.my_workspaces())));
CREATE POLICY own ON memento.member FOR SELECT USING (workspace = ANY (ARRAY(SELECT memento.my_workspaces())));
CREATE POLICY own ON memento.entry FOR SELECT USING (workspace = ANY (ARRAY(SELECT memento.my_workspaces())));
CREATE POLICY own ON memento.change FOR SELECT USING (workspace = ANY (ARRAY(SELECT memento.my_workspaces())));
CREATE POLICY own ON memento.purged FOR SELECT USING (workspace = ANY (ARRAY(SELECT memento.my_workspaces())));
CREATE POLICY own ON memento.record FOR SELECT USING (workspace = ANY (ARRAY(SELECT memento.my_workspaces())));

-- Make a machine a member under the login of this session.
CREATE FUNCTION memento.join_workspace(in_workspace text, in_member text, in_name text, in_key bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = memento, pg_temp AS $$
BEGIN
  IF my_role(in_workspace) IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'MH403', MESSAGE = 'the login ' || session_user || ' has no part in this hub';
  END IF;
  IF EXISTS (SELECT 1 FROM member WHERE workspace = in_workspace AND name = in_name) THEN
    RAISE EXCEPTION USING ERRCODE = 'MH410', MESSAGE = 'a member has this name';
  END IF;
  INSERT INTO member (workspace, id, name, login, public_key)
    VALUES (in_workspace, in_member, in_name, session_user, in_key);
END
$$;

-- Give a login a role, as an owner.
CREATE FUNCTION memento.set_role_of(in_workspace text, in_login text, in_role text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = memento, pg_temp AS $$
BEGIN
  IF my_role(in_workspace) IS DISTINCT FROM 'owner' THEN
    RAISE EXCEPTION USING ERRCODE = 'MH403', MESSAGE = 'only an owner gives roles';
  END IF;
  INSERT INTO login (workspace, name, role) VALUES (in_workspace, in_login, in_role)
    ON CONFLICT (workspace, name) DO UPDATE SET role = excluded.role, revoked_at = NULL;
END
$$;

-- End a member, as an owner, or as that member itself; its login too, where no other machine uses that.
CREATE FUNCTION memento.revoke_member(in_workspace text, in_member text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = memento, pg_temp AS $$
DECLARE
  of_login text;
BEGIN
  SELECT login INTO of_login FROM member WHERE workspace = in_workspace AND id = in_member;
  IF my_role(in_workspace) IS DISTINCT FROM 'owner' AND (my_role(in_workspace) IS NULL OR of_login <> session_user) THEN
    RAISE EXCEPTION USING ERRCODE = 'MH403', MESSAGE = 'only an owner revokes another member';
  END IF;
  UPDATE member SET revoked_at = now() WHERE workspace = in_workspace AND id = in_member AND revoked_at IS NULL;
  IF of_login <> session_user AND NOT EXISTS (
    SELECT 1 FROM member WHERE workspace = in_workspace AND login = of_login AND revoked_at IS NULL
  ) THEN
    UPDATE login SET revoked_at = now() WHERE workspace = in_workspace AND name = of_login;
  END IF;
END
$$;

-- Tell whether a change holds a decision that only a person makes; the images are those of one record. A field that has
-- its usual value is not in an image.
CREATE FUNCTION memento.is_decision(record text, before jsonb, after jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = memento, pg_temp AS $$
  SELECT CASE record
    WHEN 'proposal' THEN
      coalesce(after ->> 'state', '') NOT IN ('pending', 'needs_review')
      OR coalesce(before ->> 'state', 'pending') NOT IN ('pending', 'needs_review', 'later')
    WHEN 'memory' THEN
      after IS NULL
      OR (coalesce(after ->> 'stability', 'draft') <> 'draft'
        AND after ->> 'stability' IS DISTINCT FROM before ->> 'stability')
      OR (coalesce(after ->> 'verified_by', '') <> ''
        AND after ->> 'verified_by' IS DISTINCT FROM before ->> 'verified_by')
      OR (after -> 'verified_at' <> 'null'::jsonb AND after -> 'verified_at' IS DISTINCT FROM before -> 'verified_at')
      OR (coalesce((after ->> 'pinned')::boolean, false) AND NOT coalesce((before ->> 'pinned')::boolean, false))
      OR (after ->> 'tier' = 'shared' AND before ->> 'tier' IS DISTINCT FROM 'shared')
      OR coalesce((after ->> 'certainty')::integer, 3) > greatest(coalesce((before ->> 'certainty')::integer, 3), 3)
      OR (coalesce(after ->> 'status', 'active') IN ('active', 'consolidated', 'compacted')
        AND coalesce(before ->> 'status', 'active') IN ('pending', 'rejected', 'deleted', 'archived', 'superseded'))
      -- What a person verified or marked as essential stays as it was, or loses that.
      OR ((coalesce(after ->> 'stability', 'draft') <> 'draft' OR coalesce((after ->> 'pinned')::boolean, false)
          OR coalesce(after ->> 'verified_by', '') <> '' OR coalesce(after -> 'verified_at', 'null') <> 'null'::jsonb)
        AND EXISTS (
          SELECT 1 FROM unnest(ARRAY['content', 'title', 'kind', 'kind_raw', 'namespace', 'tags', 'validity_context',
            'source_type', 'source', 'certainty', 'sensitivity', 'expires_at', 'valid_from', 'valid_to', 'extra']) AS f
          WHERE after -> f IS DISTINCT FROM before -> f))
    ELSE false
  END
$$;

-- Append entries to the journal, all or none. Each change names the version that it was made from. Its statements look
-- few rows up by their keys: a plan that was made while the tables were small must not read them whole later.
CREATE FUNCTION memento.append(in_workspace text, in_member text, in_entries jsonb)
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
        note, content, signature, previous_hash, hash)
      VALUES (in_workspace, last_seq, one ->> 'id', in_member, of_role, (one ->> 'format')::integer, one ->> 'origin',
        one ->> 'at', one ->> 'actor', one ->> 'agent', one ->> 'session', one ->> 'channel', one ->> 'action',
        one ->> 'note', decode(one ->> 'content', 'hex'), decode(one ->> 'signature', 'hex'), last_hash, next_hash);
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
END
$$;

-- Remove the text of every version of a record, for a leaked secret, as somebody who may decide.
CREATE FUNCTION memento.purge_record(in_workspace text, in_member text, in_record text, in_record_id text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = memento, pg_temp AS $$
BEGIN
  IF NOT EXISTS (
    SELECT 1 FROM login AS l JOIN member AS m ON m.workspace = l.workspace AND m.login = l.name
    WHERE l.workspace = in_workspace AND l.name = session_user AND l.revoked_at IS NULL
      AND m.id = in_member AND m.revoked_at IS NULL AND l.role IN ('reviewer', 'owner')
  ) THEN
    RAISE EXCEPTION USING ERRCODE = 'MH403', MESSAGE = 'only a reviewer or an owner purges';
  END IF;
  INSERT INTO purged (workspace, record, record_id) VALUES (in_workspace, in_record, in_record_id)
    ON CONFLICT DO NOTHING;
  UPDATE change SET image = NULL, nonce = NULL
    WHERE workspace = in_workspace AND record = in_record AND record_id = in_record_id AND NOT removed;
END
$$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA memento FROM PUBLIC;
