"""The messages of ours that an agent replays when it loads a session.

A record for one question only: has the agent had this prompt? Its answers are not kept, since a
replay does not tell whether a turn had ended. Bounded: the newest prompts, each as far as a
packet goes.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from groupx_server.agents.loose import as_dict, as_text

PROMPTS_KEPT: Final = 4
"""The turn that was under way is the last of the session, or the one before it."""
MAX_PROMPT_CHARS: Final = 1_048_576
"""More than the largest packet; what is cut is not recognized, which is the safe side."""


class Replay:
    """Collects what `session/update` repeats of one session."""

    def __init__(self) -> None:
        self._prompts: deque[list[str]] = deque(maxlen=PROMPTS_KEPT)
        self._chars = 0
        self._message: Any = None
        self._is_prompt = False

    def take(self, update: dict[str, Any]) -> None:
        """Take one update of the replay."""
        if update.get("sessionUpdate") != "user_message_chunk":
            self._is_prompt = False
            return
        message = update.get("messageId")
        if not self._is_prompt or message != self._message:
            self._prompts.append([])
            self._chars, self._is_prompt, self._message = 0, True, message
        text = as_text(as_dict(update.get("content")).get("text"))
        self._chars += len(text)
        if self._chars <= MAX_PROMPT_CHARS:
            self._prompts[-1].append(text)

    def prompts(self) -> list[str]:
        """The newest prompts, oldest first."""
        return ["".join(pieces) for pieces in self._prompts]
