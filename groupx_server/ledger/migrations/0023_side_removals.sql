-- Version 23: a message of the conversation with the room assistant can be removed for good too.

CREATE TABLE redactions_of_all (
  kind TEXT NOT NULL CHECK (kind IN ('event', 'memory', 'identity', 'side')),
  ref_id TEXT NOT NULL,                     -- id of the event, record or message
  event_id TEXT NOT NULL REFERENCES events(event_id), -- the content.redacted that says so
  redacted_at TEXT NOT NULL,
  PRIMARY KEY(kind, ref_id)
) WITHOUT ROWID;
INSERT INTO redactions_of_all SELECT kind, ref_id, event_id, redacted_at FROM redactions;
DROP TABLE redactions;
ALTER TABLE redactions_of_all RENAME TO redactions;
