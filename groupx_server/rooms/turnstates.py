"""How running turns stand, for clients that come while they run: the plan, and each tool call.

Such states are sent live and stored when the turn has ended; without this a window that is opened
in between would not show them until then. Invariant: bounded, the latest of each key, nothing of a
turn that has ended; and nothing here is needed: a client leaves out what is of a turn that it does
not know as open. Counterpart: `broadcast`, which gives them to each new reader once.
"""

from __future__ import annotations

from typing import Final

TURN_STATE: Final = "turn:"
"""Merge keys of such states begin with it."""
MAX_BYTES: Final = 128 * 1024
"""Of all together: what every new reader is sent beside the ledger."""


def turn_state_key(turn_id: str, what: str) -> str:
    """The merge key of a state of a turn."""
    return f"{TURN_STATE}{turn_id}:{what}"


class TurnStates:
    """The latest states by merge key, the oldest ones dropped."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._states: dict[str, tuple[str | None, bytes]] = {}
        self._max_bytes = max_bytes
        self._bytes = 0

    def note(self, merge_key: str | None, room_id: str | None, data: bytes) -> None:
        """Keep the state if it is one of a turn; it takes the place of the one before."""
        if merge_key is None or not merge_key.startswith(TURN_STATE):
            return
        before = self._states.get(merge_key)
        self._bytes += len(data) - (0 if before is None else len(before[1]))
        self._states[merge_key] = (room_id, data)
        while self._bytes > self._max_bytes:
            oldest = next(iter(self._states))
            self._bytes -= len(self._states.pop(oldest)[1])

    def of_room(self, room_id: str | None) -> list[bytes]:
        """The states that a reader of the room (None: of all) gets, in the order in which they
        began."""
        return [
            data
            for where, data in self._states.values()
            if room_id is None or where is None or where == room_id
        ]

    def forget_turn(self, turn_id: str) -> None:
        """Forget what is of a turn that has ended."""
        prefix = turn_state_key(turn_id, "")
        for key in [key for key in self._states if key.startswith(prefix)]:
            self._bytes -= len(self._states.pop(key)[1])

    def clear(self) -> None:
        """Forget all."""
        self._states.clear()
        self._bytes = 0
