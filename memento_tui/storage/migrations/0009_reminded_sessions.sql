-- Whether the person was told that the session changed much and remembered nothing of it.
ALTER TABLE hook_session ADD COLUMN reminded INTEGER NOT NULL DEFAULT 0;
