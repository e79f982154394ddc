-- Version 15: the room assistant at work: what became of each request, and what it did.

-- Of a user's row (a request): queued, running, completed, failed, cancelled, interrupted; NULL:
-- written by the earlier program, which kept no state.
ALTER TABLE assistant_conversation_messages ADD COLUMN status TEXT;
-- Of an answer: the message_id of its request.
ALTER TABLE assistant_conversation_messages ADD COLUMN request_id TEXT;
-- Of a request: the room that is meant when none is named.
ALTER TABLE assistant_conversation_messages ADD COLUMN room_id TEXT;
ALTER TABLE assistant_conversation_messages ADD COLUMN error_code TEXT;
ALTER TABLE assistant_conversation_messages ADD COLUMN error_message TEXT;
-- Of an answer: 1 when it was too long to keep whole.
ALTER TABLE assistant_conversation_messages ADD COLUMN cut INTEGER NOT NULL DEFAULT 0;

CREATE INDEX assistant_open_idx ON assistant_conversation_messages(created_at, message_id)
  WHERE status IN ('queued', 'running');

-- What was done for a request; each has its event in a room.
CREATE TABLE assistant_acts (
  act_id TEXT PRIMARY KEY,
  request_id TEXT NOT NULL,                 -- message_id of the request; it may be cleared
  tool TEXT NOT NULL,
  summary TEXT NOT NULL,                    -- one line for people
  room_id TEXT,
  event_id TEXT REFERENCES events(event_id),
  occurred_at TEXT NOT NULL
);

CREATE INDEX assistant_acts_request_idx ON assistant_acts(request_id, act_id);

INSERT OR IGNORE INTO agent_instances(
  instance_id, actor_id, adapter_id, process_started_at, process_ended_at, status, transport
) VALUES ('instance:operator', 'user:assistant', 'operator', :now, NULL, 'ready', NULL);

INSERT OR IGNORE INTO session_bindings(
  binding_id, instance_id, actor_id, native_session_id, protocol, protocol_version, status,
  capabilities_json, created_at, last_ready_at, closed_at, transport
) VALUES (
  'binding:operator', 'instance:operator', 'user:assistant', NULL, 'local-operator', NULL, 'ready',
  '{"transport":"loopback-http","access":"unrestricted"}', :now, NULL, NULL, NULL
);

-- The event that a person passed on with this message; its author is the original's own.
ALTER TABLE events ADD COLUMN forwarded_event_id TEXT;

-- Turns of all rooms in order, newest first: the list of roots.
CREATE INDEX turns_order_idx ON turns(enqueue_seq);
