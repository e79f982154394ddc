"""Messages that cross from the app's background work to its handlers."""

from __future__ import annotations

from textual.message import Message


class ServerFailed(Message):
    """The server of the workspace cannot be started; `why` tells what to do."""

    def __init__(self, why: str) -> None:
        super().__init__()
        self.why = why
