-- Version 26: what people say into a running turn, and what became of it. The text is the message.

CREATE TABLE turn_advice (
  message_event_id TEXT PRIMARY KEY REFERENCES events(event_id),
  subject_turn_id TEXT NOT NULL REFERENCES turns(turn_id),
  state TEXT NOT NULL CHECK (state IN ('sending', 'taken', 'queued', 'unknown')),
  created_at TEXT NOT NULL,
  settled_at TEXT
) WITHOUT ROWID;
CREATE INDEX turn_advice_sending_idx ON turn_advice(state) WHERE state = 'sending';
