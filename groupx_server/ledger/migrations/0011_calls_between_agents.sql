-- Version 11: calls between agents: which turns somebody waits for, and how far a person let a
-- chain of calls go on.

-- 1: the turn above it asked and waits (ask); it is cancelled with that one. 0: nobody waits.
ALTER TABLE turns ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;

-- What a person allowed a root beyond the limits: each continue adds the limits once more.
CREATE TABLE root_allowances (
  root_correlation_id TEXT PRIMARY KEY,
  room_id TEXT NOT NULL REFERENCES rooms(room_id),
  granted INTEGER NOT NULL,                 -- times a person said: go on
  updated_at TEXT NOT NULL
);
