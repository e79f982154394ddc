-- Version 19: how a room's latest summing up stands; one that a server did not finish is told.

CREATE TABLE compactions (
  room_id TEXT PRIMARY KEY REFERENCES rooms(room_id),
  operation_id TEXT NOT NULL,
  phase TEXT NOT NULL,                      -- started, retrying, completed, failed or interrupted
  info_json TEXT NOT NULL,                  -- as GET /api/context tells it
  failure_count INTEGER NOT NULL DEFAULT 0, -- in a row
  next_attempt_at TEXT,                     -- turns do not ask agents again before
  updated_at TEXT NOT NULL
) WITHOUT ROWID;
