-- Version 6: an agent's memory is core (always given) or dated (a day's summary).

-- Set exactly when scope_type is 'agent'; two triggers hold that.
ALTER TABLE memory_records ADD COLUMN agent_memory_type TEXT
  CHECK (agent_memory_type IN ('core', 'dated'));

UPDATE memory_records SET agent_memory_type = 'core' WHERE scope_type = 'agent';

CREATE INDEX memory_agent_type_status_created_idx
  ON memory_records(scope_type, scope_id, agent_memory_type, status, created_at DESC);

CREATE TRIGGER memory_records_agent_type_bi
BEFORE INSERT ON memory_records
WHEN (NEW.scope_type = 'agent' AND NEW.agent_memory_type IS NULL)
  OR (NEW.scope_type <> 'agent' AND NEW.agent_memory_type IS NOT NULL)
BEGIN
  SELECT RAISE(ABORT, 'agent_memory_type must match agent scope');
END;

CREATE TRIGGER memory_records_agent_type_bu
BEFORE UPDATE OF scope_type, agent_memory_type ON memory_records
WHEN (NEW.scope_type = 'agent' AND NEW.agent_memory_type IS NULL)
  OR (NEW.scope_type <> 'agent' AND NEW.agent_memory_type IS NOT NULL)
BEGIN
  SELECT RAISE(ABORT, 'agent_memory_type must match agent scope');
END;
