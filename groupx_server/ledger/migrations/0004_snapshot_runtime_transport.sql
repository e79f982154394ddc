-- Version 4: which transport ran a session and a turn. Null for local surfaces.

ALTER TABLE agent_instances ADD COLUMN transport TEXT
  CHECK (transport IN ('direct', 'structured'));
ALTER TABLE session_bindings ADD COLUMN transport TEXT
  CHECK (transport IN ('direct', 'structured'));
ALTER TABLE turns ADD COLUMN transport TEXT NOT NULL DEFAULT 'structured'
  CHECK (transport IN ('direct', 'structured'));

-- Everything before this version was structured.
UPDATE agent_instances SET transport = 'structured'
WHERE actor_id IN (SELECT actor_id FROM actors WHERE kind = 'agent');
UPDATE session_bindings SET transport = 'structured'
WHERE actor_id IN (SELECT actor_id FROM actors WHERE kind = 'agent');
