-- Version 5: a room has at most one active summary, and an attempt names the one it was given.

-- through_seq of the summary in the attempt's packet; null when there was none.
ALTER TABLE turn_attempts ADD COLUMN summary_through_seq INTEGER
  CHECK (summary_through_seq IS NULL OR summary_through_seq >= 0);

-- Of several active summaries the one that reaches farthest stays.
UPDATE summaries SET status = 'superseded'
WHERE status = 'active' AND summary_id NOT IN (
  SELECT summary_id FROM (
    SELECT summary_id, row_number() OVER (
      PARTITION BY room_id ORDER BY through_seq DESC, created_at DESC, summary_id DESC
    ) AS place
    FROM summaries WHERE status = 'active'
  ) WHERE place = 1
);

CREATE INDEX summaries_room_status_through_idx
  ON summaries(room_id, status, through_seq DESC);
CREATE UNIQUE INDEX summaries_one_active_room_idx
  ON summaries(room_id)
  WHERE status = 'active';
