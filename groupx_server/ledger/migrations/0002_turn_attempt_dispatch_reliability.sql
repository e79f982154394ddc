-- Version 2: how far an attempt got, written before the prompt leaves.

-- prepared → prompt_invoked → native_started → terminal.
ALTER TABLE turn_attempts ADD COLUMN dispatch_phase TEXT NOT NULL DEFAULT 'prepared'
  CHECK (dispatch_phase IN ('prepared', 'prompt_invoked', 'native_started', 'terminal'));

-- When the prompt was handed to the driver; from then on it may have been delivered.
ALTER TABLE turn_attempts ADD COLUMN prompt_invoked_at TEXT;

-- Attempts of version 1 did not say whether the prompt had left. An open one that had not
-- started is taken as sent, so that it is never sent again by itself.
UPDATE turn_attempts SET dispatch_phase = CASE
  WHEN terminal_at IS NOT NULL THEN 'terminal'
  WHEN started_at IS NOT NULL THEN 'native_started'
  ELSE 'prompt_invoked'
END;

-- Only the newest open attempt of a turn stays open.
UPDATE turn_attempts SET dispatch_phase = 'terminal', terminal_at = claimed_at
WHERE terminal_at IS NULL AND EXISTS (
  SELECT 1 FROM turn_attempts AS newer
  WHERE newer.turn_id = turn_attempts.turn_id AND newer.terminal_at IS NULL
    AND (newer.claimed_at, newer.attempt_id) > (turn_attempts.claimed_at, turn_attempts.attempt_id)
);

CREATE UNIQUE INDEX turn_attempts_one_current_idx
  ON turn_attempts(turn_id)
  WHERE terminal_at IS NULL;
