-- Version 18: what turns cost in all, kept with each turn: a sum no longer looks at every turn.

-- One row per room, agent and currency, written with each turn. No triggers: with one on turns, SQLite
-- looks through every table that refers to them.
CREATE TABLE usage_totals (
  room_id TEXT NOT NULL,
  actor_id TEXT NOT NULL,                   -- whose turns
  currency TEXT NOT NULL,                   -- of the cost; '': turns, and tokens without a currency
  turns INTEGER NOT NULL DEFAULT 0,         -- counted in the row of currency ''
  reported_turns INTEGER NOT NULL DEFAULT 0, -- turns whose agent told something
  total_tokens INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cached_tokens INTEGER NOT NULL DEFAULT 0,
  thought_tokens INTEGER NOT NULL DEFAULT 0,
  cost REAL,                                -- null while no agent told one
  PRIMARY KEY(room_id, actor_id, currency)
) WITHOUT ROWID;

INSERT INTO usage_totals(room_id, actor_id, currency, turns)
SELECT room_id, target_actor_id, '', count(*) FROM turns GROUP BY room_id, target_actor_id;

INSERT INTO usage_totals(room_id, actor_id, currency, reported_turns, total_tokens, input_tokens,
  output_tokens, cached_tokens, thought_tokens, cost)
SELECT
  room_id, target_actor_id, COALESCE(json_extract(usage_json, '$.costCurrency'), '') AS currency,
  count(*),
  SUM(COALESCE(json_extract(usage_json, '$.totalTokens'),
    COALESCE(json_extract(usage_json, '$.inputTokens'), 0)
    + COALESCE(json_extract(usage_json, '$.outputTokens'), 0))),
  COALESCE(SUM(json_extract(usage_json, '$.inputTokens')), 0),
  COALESCE(SUM(json_extract(usage_json, '$.outputTokens')), 0),
  COALESCE(SUM(json_extract(usage_json, '$.cachedTokens')), 0),
  COALESCE(SUM(json_extract(usage_json, '$.thoughtTokens')), 0),
  SUM(json_extract(usage_json, '$.costAmount'))
FROM turns WHERE usage_json IS NOT NULL GROUP BY room_id, target_actor_id, 3
ON CONFLICT(room_id, actor_id, currency) DO UPDATE SET
  reported_turns = excluded.reported_turns, total_tokens = excluded.total_tokens,
  input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
  cached_tokens = excluded.cached_tokens, thought_tokens = excluded.thought_tokens,
  cost = excluded.cost;
