-- The timeline walks from one memory to those remembered just before and after. Its condition is always true: it keeps
-- the index out of every query that does not name it, because a count over a wide span of time is faster without.
CREATE INDEX memory_created ON memory (created_at) WHERE number > 0;
