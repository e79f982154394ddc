-- Version 22: what rows of the search index mean, as vectors of an embeddings endpoint, when one is
-- set up. A cache: it can be made again. How far it came stands in ledger_meta('search_vectors').

CREATE TABLE search_vectors (
  row_id INTEGER PRIMARY KEY,               -- of search_rows; goes with it
  vector BLOB NOT NULL                      -- factor (float32), then one signed byte a dimension
);

-- What was asked of endpoints, day by day.
CREATE TABLE embedding_calls (
  day TEXT NOT NULL,
  model TEXT NOT NULL,
  purpose TEXT NOT NULL CHECK (purpose IN ('index', 'query')),
  calls INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,        -- of the calls
  texts INTEGER NOT NULL DEFAULT 0,
  chars INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(day, model, purpose)
) WITHOUT ROWID;
