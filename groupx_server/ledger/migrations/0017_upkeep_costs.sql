-- Version 17: what agents' texts for the server cost: summaries of rooms, days.

CREATE TABLE upkeep_costs (
  cost_id INTEGER PRIMARY KEY AUTOINCREMENT,
  purpose TEXT NOT NULL,                    -- summary or dated
  room_id TEXT NOT NULL,
  actor_id TEXT NOT NULL REFERENCES actors(actor_id),
  usage_json TEXT,                          -- as turns.usage_json; null: the agent told nothing
  occurred_at TEXT NOT NULL
);
CREATE INDEX upkeep_costs_room_idx ON upkeep_costs(room_id);
CREATE INDEX upkeep_costs_actor_idx ON upkeep_costs(actor_id);
