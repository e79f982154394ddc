-- Version 14: what was taken out for good, and the way from a text to all that came of it.

-- One row for each event or record whose text a person had removed. It holds no text.
CREATE TABLE redactions (
  kind TEXT NOT NULL CHECK (kind IN ('event', 'memory', 'identity')),
  ref_id TEXT NOT NULL,                     -- event_id, memory_id or identity_id
  event_id TEXT NOT NULL REFERENCES events(event_id), -- the content.redacted that says so
  redacted_at TEXT NOT NULL,
  PRIMARY KEY(kind, ref_id)
) WITHOUT ROWID;

-- The versions of a record, forward and back.
CREATE INDEX memory_supersedes_idx ON memory_records(supersedes_memory_id)
  WHERE supersedes_memory_id IS NOT NULL;
CREATE INDEX identity_supersedes_idx ON identity_records(supersedes_identity_id)
  WHERE supersedes_identity_id IS NOT NULL;
-- What an event led to.
CREATE INDEX memory_source_idx ON memory_records(source_event_id)
  WHERE source_event_id IS NOT NULL;
CREATE INDEX identity_source_idx ON identity_records(source_event_id)
  WHERE source_event_id IS NOT NULL;
