-- Version 12: memory that always goes along.

-- When a person pinned the record; NULL: not pinned. A correction keeps the pin.
ALTER TABLE memory_records ADD COLUMN pinned_at TEXT;

CREATE INDEX memory_pinned_idx ON memory_records(scope_type, scope_id, created_at)
  WHERE pinned_at IS NOT NULL AND status = 'active';

-- Pages of records are read newest first without sorting.
CREATE INDEX memory_scope_newest_idx
  ON memory_records(scope_type, scope_id, status, created_at DESC, memory_id DESC);
CREATE INDEX memory_agent_type_newest_idx
  ON memory_records(scope_type, scope_id, agent_memory_type, status, created_at DESC, memory_id DESC);
CREATE INDEX identity_subject_newest_idx
  ON identity_records(subject_actor_id, status, created_at DESC, identity_id DESC);
