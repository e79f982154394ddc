"""Where in a room a moment is: found by halving, since events stand in the order of their times.

Costs about as many small requests as the number of events has binary digits. Counterpart:
`moments`, which reads what a person writes.
"""

from __future__ import annotations

from datetime import datetime

from groupx_tui.client.http import ServerClient


async def seq_at(client: ServerClient, room_id: str, last_seq: int, at: datetime) -> int | None:
    """Return the seq of the room's first event at or after `at` (aware), None when there is none.

    `last_seq` is the newest event known. Raises: RefusedError, ServerUnreachableError.
    """
    low, high, found = 1, last_seq + 1, None
    while low < high:
        middle = (low + high) // 2
        page = await client.events(room_id, after=middle - 1, limit=1)
        event = page.events[0] if page.events else None
        if event is None or event.seq is None:
            high = middle
        elif datetime.fromisoformat(event.occurred_at) >= at:
            high, found = middle, event.seq
        else:
            low = event.seq + 1
    return found
