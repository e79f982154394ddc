-- Version 21: what is deleted is overwritten with zeros at once (PRAGMA secure_delete, set by every
-- connection that writes), so a removal need not write the whole file anew.

-- The full-text indexes of the earlier program: nothing asks them since version 13, each record was
-- indexed twice, and they point at row numbers that VACUUM may change.
DROP TRIGGER memory_records_ai;
DROP TRIGGER memory_records_ad;
DROP TRIGGER memory_records_au;
DROP TRIGGER identity_records_ai;
DROP TRIGGER identity_records_ad;
DROP TRIGGER identity_records_au;
DROP TABLE memory_records_fts;
DROP TABLE identity_records_fts;
DELETE FROM ledger_meta WHERE key = 'purge';

-- In a file that was written without it old texts may stand in free pages. It gets this mark when
-- it is written anew by its first purge; a new file has it from its beginning.
INSERT INTO ledger_meta(key, value)
SELECT 'overwritten', :now WHERE NOT EXISTS (SELECT 1 FROM events);

-- The events that say what became of a record, found without looking at all others.
CREATE INDEX events_of_records_idx ON events(event_type) WHERE event_type IN (
  'memory.remembered', 'memory.superseded', 'memory.retracted', 'memory.pinned',
  'memory.unpinned', 'identity.remembered', 'identity.superseded', 'identity.retracted'
);
