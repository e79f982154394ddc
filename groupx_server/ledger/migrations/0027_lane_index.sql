-- Version 27: waiting turns are found by turns_open_actor_idx, which holds open ones only. This index
-- held every turn by its status: each turn changed it four times, and nothing needed it.

DROP INDEX turns_target_status_enqueue_idx;
