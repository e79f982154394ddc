-- Version 16: what observers see of the turns they watch, and what became of their advice.

-- Steps of watched turns: no text, no argument, no result.
CREATE TABLE watched_steps (
  turn_id TEXT NOT NULL REFERENCES turns(turn_id),
  number INTEGER NOT NULL,                  -- from 1 in each turn
  kind TEXT NOT NULL,
  at TEXT NOT NULL,
  tool_call_id TEXT,
  tool TEXT,                                -- kind of the tool: read, edit, execute
  status TEXT,
  chars INTEGER,                            -- length of the answer so far
  PRIMARY KEY (turn_id, number)
) WITHOUT ROWID;

-- How far an observer has seen a turn.
CREATE TABLE watch_cursors (
  watch_turn_id TEXT NOT NULL REFERENCES turns(turn_id),
  subject_turn_id TEXT NOT NULL REFERENCES turns(turn_id),
  step INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (watch_turn_id, subject_turn_id)
) WITHOUT ROWID;

-- Advice that is given to a running turn: written before it leaves.
CREATE TABLE supervision_nudges (
  message_event_id TEXT PRIMARY KEY REFERENCES events(event_id),
  subject_turn_id TEXT NOT NULL REFERENCES turns(turn_id),
  watch_turn_id TEXT NOT NULL REFERENCES turns(turn_id),
  pair_id TEXT NOT NULL REFERENCES supervision_pairs(pair_id),
  observer_actor_id TEXT NOT NULL REFERENCES actors(actor_id),
  state TEXT NOT NULL CHECK (state IN ('sending', 'taken', 'queued', 'unknown')),
  created_at TEXT NOT NULL,
  settled_at TEXT
) WITHOUT ROWID;
CREATE INDEX supervision_nudges_sending_idx ON supervision_nudges(state) WHERE state = 'sending';

-- Why a turn was steered the last time.
ALTER TABLE supervision_steer_counts ADD COLUMN last_reason TEXT;
