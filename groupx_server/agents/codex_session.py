"""One Codex thread as a session: as every other, and it can be steered.

Owns nothing beyond `turn_session.TurnSession`. Codex takes a further message into the running
turn: while text streams the model is asked again at once, while a tool runs the message goes along
with its result. The counterpart is `codex_driver.py`.
"""

from __future__ import annotations

from groupx_server.agents.codex import CodexClient
from groupx_server.agents.jsonrpc import ErrorResponse
from groupx_server.agents.turn_session import TurnSession


class CodexSession(TurnSession[CodexClient]):
    """A thread that `CodexDriver.open_session` opened."""

    async def steer(self, text: str) -> bool:
        """See `Session.steer`. Raises: AgentError when Codex does not answer."""
        if self.flight is None or self.lost:
            return False
        call_id = self._link.client.steer(self.native_session_id, text)
        if call_id is None:
            return False
        answer = await self._link.call(call_id, "turn/steer", self._link.timeouts.request_s)
        return not isinstance(answer, ErrorResponse)
