-- Version 1: actors, their processes and sessions, the event log, turns, memory, identity.
-- Times are text in UTC, 'YYYY-MM-DDTHH:MM:SS.mmmZ'; JSON is text.

CREATE TABLE schema_migrations (
  version INTEGER PRIMARY KEY,              -- equals PRAGMA user_version after the migration
  name TEXT NOT NULL,
  applied_at TEXT NOT NULL
);

CREATE TABLE actors (
  actor_id TEXT PRIMARY KEY,                -- 'user:…', 'agent:…' or 'system:…'
  kind TEXT NOT NULL CHECK (kind IN ('user', 'agent', 'system')),
  display_name TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

-- One row per process of an agent, and one per local surface ('instance:web').
CREATE TABLE agent_instances (
  instance_id TEXT PRIMARY KEY,
  actor_id TEXT NOT NULL REFERENCES actors(actor_id),
  adapter_id TEXT NOT NULL,                 -- which driver or surface runs it
  process_started_at TEXT NOT NULL,
  process_ended_at TEXT,                    -- null while it lives
  status TEXT NOT NULL                      -- starting, ready, stopped, interrupted, failed
);

-- One row per native session of an instance.
CREATE TABLE session_bindings (
  binding_id TEXT PRIMARY KEY,
  instance_id TEXT NOT NULL REFERENCES agent_instances(instance_id),
  actor_id TEXT NOT NULL REFERENCES actors(actor_id),
  native_session_id TEXT,                   -- the agent's own name of the session
  protocol TEXT NOT NULL,
  protocol_version TEXT,
  status TEXT NOT NULL,                     -- starting, ready, failed, interrupted, closed
  capabilities_json TEXT NOT NULL,
  created_at TEXT NOT NULL,
  last_ready_at TEXT,
  closed_at TEXT
);

-- Receipts: the same command from the same binding is done once and answered the same.
CREATE TABLE client_commands (
  command_id TEXT PRIMARY KEY,
  source_binding_id TEXT NOT NULL REFERENCES session_bindings(binding_id),
  client_command_id TEXT NOT NULL,          -- chosen by the client
  command_type TEXT NOT NULL,
  canonical_hash TEXT NOT NULL,             -- SHA-256 hex of the canonical JSON of the request
  result_json TEXT,                         -- null until the command is done
  accepted_at TEXT NOT NULL,
  UNIQUE(source_binding_id, client_command_id)
);

-- The log. Rows are only ever added; seq is the one order of everything.
CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,    -- never used twice
  event_id TEXT NOT NULL UNIQUE,
  schema_version TEXT NOT NULL,             -- name of the envelope's schema
  room_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  actor_id TEXT NOT NULL REFERENCES actors(actor_id),
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('user', 'agent', 'system')),
  actor_display_name TEXT NOT NULL,         -- the name at that time
  instance_id TEXT REFERENCES agent_instances(instance_id),
  targets_json TEXT NOT NULL,               -- array of actor ids
  reply_to_event_id TEXT REFERENCES events(event_id),
  causation_id TEXT,                        -- a turn id or an event id
  correlation_id TEXT NOT NULL,             -- the root all caused work shares
  idempotency_key TEXT,
  occurred_at TEXT NOT NULL,
  body_json TEXT NOT NULL,
  provenance_json TEXT,
  UNIQUE(room_id, event_type, idempotency_key)
);

-- One row per request to one agent.
CREATE TABLE turns (
  turn_id TEXT PRIMARY KEY,
  source_event_id TEXT NOT NULL REFERENCES events(event_id),
  target_actor_id TEXT NOT NULL REFERENCES actors(actor_id),
  adapter_id TEXT NOT NULL,
  binding_id TEXT REFERENCES session_bindings(binding_id),
  native_turn_id TEXT,
  parent_turn_id TEXT REFERENCES turns(turn_id),
  root_correlation_id TEXT NOT NULL,
  hop_count INTEGER NOT NULL CHECK (hop_count >= 0),
  queued_event_id TEXT NOT NULL UNIQUE REFERENCES events(event_id),
  enqueue_seq INTEGER NOT NULL,             -- seq of the queued event; order of the lane
  status TEXT NOT NULL CHECK (status IN (
    'queued', 'dispatching', 'running', 'cancelling', 'completed',
    'failed', 'cancelled', 'interrupted'
  )),
  partial_text TEXT,                        -- what had arrived when the turn ended unfinished
  response_event_id TEXT REFERENCES events(event_id),
  terminal_event_id TEXT REFERENCES events(event_id),
  error_code TEXT,
  queued_at TEXT NOT NULL,
  started_at TEXT,
  terminal_at TEXT,
  UNIQUE(source_event_id, target_actor_id)
);

-- One row per delivery of a turn to a session.
CREATE TABLE turn_attempts (
  attempt_id TEXT PRIMARY KEY,
  turn_id TEXT NOT NULL REFERENCES turns(turn_id),
  binding_id TEXT NOT NULL REFERENCES session_bindings(binding_id),
  instance_id TEXT NOT NULL REFERENCES agent_instances(instance_id),
  context_through_seq INTEGER NOT NULL CHECK (context_through_seq >= 0),
  native_turn_id TEXT,
  claimed_at TEXT NOT NULL,
  started_at TEXT,
  terminal_at TEXT,
  delivery_certainty TEXT NOT NULL CHECK (delivery_certainty IN (
    'not_delivered', 'delivered', 'unknown', 'terminal'
  ))
);

-- Native questions that waited for a person (gone in version 3).
CREATE TABLE approval_requests (
  approval_id TEXT PRIMARY KEY,
  turn_id TEXT NOT NULL REFERENCES turns(turn_id),
  binding_id TEXT NOT NULL REFERENCES session_bindings(binding_id),
  native_request_id TEXT NOT NULL,
  request_json TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired')),
  decision_json TEXT,
  requested_at TEXT NOT NULL,
  resolved_at TEXT
);

-- How far an agent has been told what happened in a room.
CREATE TABLE delivery_cursors (
  actor_id TEXT NOT NULL REFERENCES actors(actor_id),
  room_id TEXT NOT NULL,
  last_delivered_seq INTEGER NOT NULL CHECK (last_delivered_seq >= 0),
  last_summary_seq INTEGER,
  updated_at TEXT NOT NULL,
  PRIMARY KEY(actor_id, room_id)
);

CREATE TABLE memory_records (
  memory_id TEXT PRIMARY KEY,
  scope_type TEXT NOT NULL CHECK (scope_type IN ('room', 'agent', 'correlation')),
  scope_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN (
    'fact', 'decision', 'preference', 'instruction', 'constraint',
    'summary', 'note'
  )),
  author_actor_id TEXT NOT NULL REFERENCES actors(actor_id),
  subject_actor_id TEXT REFERENCES actors(actor_id),
  content TEXT NOT NULL,
  source_event_id TEXT REFERENCES events(event_id),
  source_kind TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'superseded', 'retracted')),
  supersedes_memory_id TEXT REFERENCES memory_records(memory_id),
  created_at TEXT NOT NULL,
  retracted_at TEXT
);

CREATE VIRTUAL TABLE memory_records_fts USING fts5(
  memory_id UNINDEXED,
  content,
  content='memory_records',
  content_rowid='rowid'
);

CREATE TRIGGER memory_records_ai AFTER INSERT ON memory_records BEGIN
  INSERT INTO memory_records_fts(rowid, memory_id, content)
  VALUES (new.rowid, new.memory_id, new.content);
END;

CREATE TRIGGER memory_records_ad AFTER DELETE ON memory_records BEGIN
  INSERT INTO memory_records_fts(memory_records_fts, rowid, memory_id, content)
  VALUES ('delete', old.rowid, old.memory_id, old.content);
END;

CREATE TRIGGER memory_records_au AFTER UPDATE OF content ON memory_records BEGIN
  INSERT INTO memory_records_fts(memory_records_fts, rowid, memory_id, content)
  VALUES ('delete', old.rowid, old.memory_id, old.content);
  INSERT INTO memory_records_fts(rowid, memory_id, content)
  VALUES (new.rowid, new.memory_id, new.content);
END;

CREATE TABLE identity_records (
  identity_id TEXT PRIMARY KEY,
  subject_actor_id TEXT NOT NULL REFERENCES actors(actor_id),
  author_actor_id TEXT NOT NULL REFERENCES actors(actor_id),
  kind TEXT NOT NULL,
  content TEXT NOT NULL,
  source_event_id TEXT REFERENCES events(event_id),
  source_kind TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'superseded', 'retracted')),
  supersedes_identity_id TEXT REFERENCES identity_records(identity_id),
  created_at TEXT NOT NULL,
  retracted_at TEXT
);

CREATE VIRTUAL TABLE identity_records_fts USING fts5(
  identity_id UNINDEXED,
  content,
  content='identity_records',
  content_rowid='rowid'
);

CREATE TRIGGER identity_records_ai AFTER INSERT ON identity_records BEGIN
  INSERT INTO identity_records_fts(rowid, identity_id, content)
  VALUES (new.rowid, new.identity_id, new.content);
END;

CREATE TRIGGER identity_records_ad AFTER DELETE ON identity_records BEGIN
  INSERT INTO identity_records_fts(identity_records_fts, rowid, identity_id, content)
  VALUES ('delete', old.rowid, old.identity_id, old.content);
END;

CREATE TRIGGER identity_records_au AFTER UPDATE OF content ON identity_records BEGIN
  INSERT INTO identity_records_fts(identity_records_fts, rowid, identity_id, content)
  VALUES ('delete', old.rowid, old.identity_id, old.content);
  INSERT INTO identity_records_fts(rowid, identity_id, content)
  VALUES (new.rowid, new.identity_id, new.content);
END;

CREATE TABLE summaries (
  summary_id TEXT PRIMARY KEY,
  room_id TEXT NOT NULL,
  from_seq INTEGER NOT NULL,
  through_seq INTEGER NOT NULL,             -- the last event the summary covers
  content TEXT NOT NULL,
  generator_actor_id TEXT NOT NULL REFERENCES actors(actor_id),
  status TEXT NOT NULL,                     -- active or superseded
  created_at TEXT NOT NULL,
  CHECK (from_seq <= through_seq)
);

CREATE INDEX session_bindings_actor_status_idx
  ON session_bindings(actor_id, status);
CREATE INDEX events_room_seq_idx ON events(room_id, seq);
CREATE INDEX events_correlation_seq_idx ON events(correlation_id, seq);
CREATE INDEX turns_target_status_enqueue_idx
  ON turns(target_actor_id, status, enqueue_seq);
CREATE INDEX turns_correlation_idx ON turns(root_correlation_id);
CREATE INDEX turn_attempts_turn_claimed_idx
  ON turn_attempts(turn_id, claimed_at);
CREATE INDEX memory_scope_status_created_idx
  ON memory_records(scope_type, scope_id, status, created_at DESC);
CREATE INDEX memory_author_subject_idx
  ON memory_records(author_actor_id, subject_actor_id);
CREATE INDEX identity_subject_status_created_idx
  ON identity_records(subject_actor_id, status, created_at DESC);
CREATE INDEX identity_author_idx ON identity_records(author_actor_id);
