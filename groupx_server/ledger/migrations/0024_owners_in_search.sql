-- Version 24: the search index knows whose memory an agent's record is, apart from whom it is about.
-- It is built anew while the ledger is used.

ALTER TABLE search_rows ADD COLUMN owner_id TEXT; -- the agent whose own memory it is
