-- Version 13: one full-text index over messages, memory and identity. It holds nothing that is not
-- in other tables and can be built anew at any time. How far it got stands in
-- ledger_meta('search_index'), with the version of the rules that texts are cut by.

-- What is indexed. A number is never used twice, so that nothing inherits another row's words.
CREATE TABLE search_rows (
  row_id INTEGER PRIMARY KEY AUTOINCREMENT, -- rowid in search_fts
  kind TEXT NOT NULL,                       -- message, memory or identity
  ref_id TEXT NOT NULL,                     -- event_id, memory_id or identity_id
  room_id TEXT,                             -- null: of no room (an agent's own memory, identity)
  actor_id TEXT NOT NULL,                   -- who said or wrote it
  subject_id TEXT,                          -- whom a record is about
  speaker TEXT NOT NULL,                    -- their names, as they were indexed
  type TEXT NOT NULL,                       -- type of the event, kind of the record
  root TEXT,                                -- correlation id of a message
  seq INTEGER,                              -- of a message
  occurred_at TEXT NOT NULL,
  context_through INTEGER NOT NULL,         -- later messages up to this seq are in its context
  UNIQUE(kind, ref_id)
);

-- Words are made by the program (folded, pairs of characters for Chinese); the tokenizer only cuts
-- at spaces and stems. Nothing is stored beside the words: to take a row out, its columns are made
-- again from the ledger.
CREATE VIRTUAL TABLE search_fts USING fts5(
  speaker, text, context, days, singles, scope,
  content='', tokenize='porter ascii'
);

-- Records that were written or changed since the index last looked.
CREATE TABLE search_queue (
  queue_id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  ref_id TEXT NOT NULL
);

CREATE TRIGGER search_memory_ai AFTER INSERT ON memory_records BEGIN
  INSERT INTO search_queue(kind, ref_id) VALUES ('memory', new.memory_id);
END;

CREATE TRIGGER search_memory_au AFTER UPDATE OF status ON memory_records BEGIN
  INSERT INTO search_queue(kind, ref_id) VALUES ('memory', new.memory_id);
END;

CREATE TRIGGER search_identity_ai AFTER INSERT ON identity_records BEGIN
  INSERT INTO search_queue(kind, ref_id) VALUES ('identity', new.identity_id);
END;

CREATE TRIGGER search_identity_au AFTER UPDATE OF status ON identity_records BEGIN
  INSERT INTO search_queue(kind, ref_id) VALUES ('identity', new.identity_id);
END;
