-- Version 9: the room assistant's own conversation, and the points where context starts anew.

CREATE TABLE assistant_conversation_messages (
  message_id TEXT PRIMARY KEY,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  content TEXT NOT NULL,
  created_at TEXT NOT NULL,
  client_command_id TEXT UNIQUE
);

CREATE TABLE context_resets (
  reset_id TEXT PRIMARY KEY,
  room_id TEXT NOT NULL,
  through_seq INTEGER NOT NULL CHECK (through_seq >= 0),
  reset_native_sessions INTEGER NOT NULL CHECK (reset_native_sessions IN (0, 1)),
  created_at TEXT NOT NULL
);

CREATE INDEX assistant_conversation_created_idx
  ON assistant_conversation_messages(created_at, message_id);
CREATE INDEX context_resets_room_seq_idx
  ON context_resets(room_id, through_seq DESC, created_at DESC);
