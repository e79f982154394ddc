-- Version 12: memory that always goes along.

-- When a person pinned the record; NULL: not pinned. A correction keeps the pin.
ALTER TABLE memory_records ADD COLUMN pinned_at TEXT;

CREATE INDEX memory_pinned_idx ON memory_records(scope_type, scope_id, created_at)
  WHERE pinned_at IS NOT NULL AND status = 'active';
