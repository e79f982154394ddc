-- Version 10: several rooms, counters instead of counting, one key for every event that must
-- happen once. `:now` is the time of the migration.

-- ── The local surfaces: made by the server before, by the ledger from now on ──────────────────

INSERT OR IGNORE INTO actors(actor_id, kind, display_name, enabled, created_at, updated_at) VALUES
  ('user:web', 'user', 'You', 1, :now, :now),
  ('user:assistant', 'user', 'Room assistant', 0, :now, :now),
  ('system:groupx', 'system', 'GroupX', 1, :now, :now);

INSERT OR IGNORE INTO agent_instances(
  instance_id, actor_id, adapter_id, process_started_at, process_ended_at, status, transport
) VALUES ('instance:web', 'user:web', 'web', :now, NULL, 'ready', NULL);

INSERT OR IGNORE INTO session_bindings(
  binding_id, instance_id, actor_id, native_session_id, protocol, protocol_version, status,
  capabilities_json, created_at, last_ready_at, closed_at, transport
) VALUES (
  'binding:web', 'instance:web', 'user:web', NULL, 'local-rest', NULL, 'ready',
  '{"transport":"loopback-http","access":"unrestricted"}', :now, NULL, NULL, NULL
);

-- ── Rooms ─────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE rooms (
  room_id TEXT PRIMARY KEY,
  title TEXT NOT NULL,                      -- what people see; need not be unique
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,                 -- time of the last event or change of the room
  archived_at TEXT,                         -- null while the room takes messages
  last_seq INTEGER NOT NULL DEFAULT 0,      -- seq of the room's newest event, 0 when empty
  event_count INTEGER NOT NULL DEFAULT 0,   -- number of the room's events
  message_count INTEGER NOT NULL DEFAULT 0, -- number of the room's rows in room_messages
  message_chars INTEGER NOT NULL DEFAULT 0  -- sum of their chars
);

INSERT INTO rooms(room_id, title, created_at, updated_at, last_seq, event_count)
SELECT
  room_id,
  CASE WHEN room_id LIKE 'room:_%' THEN substr(room_id, 6) ELSE room_id END,
  min(occurred_at), max(occurred_at), max(seq), count(*)
FROM events GROUP BY room_id;

INSERT OR IGNORE INTO rooms(room_id, title, created_at, updated_at)
VALUES ('room:main', 'main', :now, :now);

-- One row per message a reader or an agent's context counts: message.created and
-- operator.dispatch, but not the briefs written for observers. The running totals answer "how
-- much since seq N" with two lookups.
CREATE TABLE room_messages (
  room_id TEXT NOT NULL REFERENCES rooms(room_id),
  seq INTEGER NOT NULL REFERENCES events(seq),
  event_id TEXT NOT NULL,                   -- of the same event
  actor_id TEXT NOT NULL,                   -- who said it
  chars INTEGER NOT NULL,                   -- Unicode code points of body.content
  total_count INTEGER NOT NULL,             -- messages of the room up to and including this one
  total_chars INTEGER NOT NULL,             -- their chars
  PRIMARY KEY(room_id, seq)
) WITHOUT ROWID;

INSERT INTO room_messages(room_id, seq, event_id, actor_id, chars, total_count, total_chars)
SELECT
  room_id, seq, event_id, actor_id, chars,
  row_number() OVER so_far,
  sum(chars) OVER so_far
FROM (
  SELECT
    room_id, seq, event_id, actor_id,
    CASE WHEN json_valid(body_json)
      THEN coalesce(length(json_extract(body_json, '$.content')), 0) ELSE 0 END AS chars
  FROM events
  WHERE event_type IN ('message.created', 'operator.dispatch')
    AND NOT (json_valid(body_json)
      AND json_extract(body_json, '$.kind') IS 'supervision.watch')
)
WINDOW so_far AS (PARTITION BY room_id ORDER BY seq ROWS UNBOUNDED PRECEDING)
ORDER BY room_id, seq;

UPDATE rooms SET (message_count, message_chars) = (
  SELECT total_count, total_chars FROM room_messages
  WHERE room_messages.room_id = rooms.room_id ORDER BY seq DESC LIMIT 1
) WHERE EXISTS (SELECT 1 FROM room_messages WHERE room_messages.room_id = rooms.room_id);

-- ── Turns, sessions, attempts ─────────────────────────────────────────────────────────────────

-- The room of the source event.
ALTER TABLE turns ADD COLUMN room_id TEXT NOT NULL DEFAULT 'room:main';
-- The sentence that goes with error_code, for people.
ALTER TABLE turns ADD COLUMN error_message TEXT;
-- What the agent said the turn cost (tokens, money), as it said it.
ALTER TABLE turns ADD COLUMN usage_json TEXT;

UPDATE turns SET room_id = events.room_id
FROM events WHERE events.event_id = turns.source_event_id AND events.room_id <> turns.room_id;

-- The room whose context the native session holds; null for local surfaces.
ALTER TABLE session_bindings ADD COLUMN room_id TEXT;

UPDATE session_bindings SET room_id = 'room:main'
WHERE actor_id IN (SELECT actor_id FROM actors WHERE kind = 'agent');

-- What asking the agent after a restart told about an uncertain delivery; null when not asked.
ALTER TABLE turn_attempts ADD COLUMN reconciliation TEXT;

-- The answer of a running turn, piece by piece in order of part_no (from 1): a long answer is
-- never written twice. Joined into turns.partial_text or the response, then deleted, at the end.
CREATE TABLE turn_partials (
  turn_id TEXT NOT NULL REFERENCES turns(turn_id),
  part_no INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY(turn_id, part_no)
) WITHOUT ROWID;

-- The whole text where an event's body holds a cut one. `field` is the key in the body, part_no
-- counts from 1, the parts joined in order are the text.
CREATE TABLE event_texts (
  event_id TEXT NOT NULL REFERENCES events(event_id),
  field TEXT NOT NULL,
  part_no INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY(event_id, field, part_no)
) WITHOUT ROWID;

-- Facts about the file itself.
CREATE TABLE ledger_meta (
  key TEXT PRIMARY KEY,                     -- ledger_id: names this ledger to clients and exports
  value TEXT NOT NULL
);

INSERT INTO ledger_meta(key, value) VALUES ('ledger_id', lower(hex(randomblob(16))));

-- ── Once and only once ────────────────────────────────────────────────────────────────────────

UPDATE events SET idempotency_key = 'turn:' || turns.turn_id || ':terminal'
FROM turns WHERE turns.terminal_event_id = events.event_id AND events.idempotency_key IS NULL;

UPDATE events SET idempotency_key = 'turn:' || turns.turn_id || ':response'
FROM turns WHERE turns.response_event_id = events.event_id AND events.idempotency_key IS NULL;

-- A key was unique per event type before. A later event with the same key in the same room
-- keeps it with its seq behind, so that no row is refused.
UPDATE events SET idempotency_key = idempotency_key || '#' || seq
WHERE seq IN (
  SELECT seq FROM (
    SELECT seq, row_number() OVER (PARTITION BY room_id, idempotency_key ORDER BY seq) AS place
    FROM events WHERE idempotency_key IS NOT NULL
  ) WHERE place > 1
);

CREATE UNIQUE INDEX events_room_idempotency_unique
  ON events(room_id, idempotency_key)
  WHERE idempotency_key IS NOT NULL;

-- ── Indexes: no hot query grows with the room ─────────────────────────────────────────────────

-- Open turns of one agent (queue bound, lane) and of one room (status line, recovery).
CREATE INDEX turns_open_actor_idx ON turns(target_actor_id, enqueue_seq)
  WHERE status IN ('queued', 'dispatching', 'running', 'cancelling');
CREATE INDEX turns_open_room_idx ON turns(room_id, enqueue_seq)
  WHERE status IN ('queued', 'dispatching', 'running', 'cancelling');
-- Pages of a room's turns.
CREATE INDEX turns_room_idx ON turns(room_id, enqueue_seq);
-- Calls of one agent within one root.
CREATE INDEX turns_root_actor_idx ON turns(root_correlation_id, target_actor_id);
-- Asks below a turn, for cancelling them with it.
CREATE INDEX turns_parent_idx ON turns(parent_turn_id) WHERE parent_turn_id IS NOT NULL;
-- The newest session of an agent in a room, for resuming it.
CREATE INDEX session_bindings_actor_room_idx ON session_bindings(actor_id, room_id, created_at);
-- Whether a session ever saw a turn.
CREATE INDEX turn_attempts_binding_idx ON turn_attempts(binding_id);
-- What a crash left open.
CREATE INDEX session_bindings_open_idx ON session_bindings(actor_id) WHERE closed_at IS NULL;
CREATE INDEX agent_instances_open_idx ON agent_instances(actor_id) WHERE process_ended_at IS NULL;
CREATE INDEX turn_attempts_open_idx ON turn_attempts(claimed_at) WHERE terminal_at IS NULL;
-- Messages of one agent in a room, for leaving its own out of its context.
CREATE INDEX room_messages_actor_idx ON room_messages(room_id, actor_id, seq);
