-- Version 25: indexes that are the beginning of another one are gone. Each turn and each record
-- wrote them, and nothing was found by them that the longer one does not find.

DROP INDEX turns_correlation_idx;               -- turns_root_actor_idx
DROP INDEX memory_scope_status_created_idx;     -- memory_scope_newest_idx
DROP INDEX memory_agent_type_status_created_idx; -- memory_agent_type_newest_idx
DROP INDEX identity_subject_status_created_idx; -- identity_subject_newest_idx
