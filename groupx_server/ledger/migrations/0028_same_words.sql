-- Version 28: whether an author keeps the same words already is found by how many characters they
-- have. No text stands in these indexes, so none has to be removed from them.

CREATE INDEX memory_same_words_idx ON memory_records(scope_type, scope_id, length(content))
    WHERE status = 'active';
CREATE INDEX identity_same_words_idx ON identity_records(subject_actor_id, length(content))
    WHERE status = 'active';
