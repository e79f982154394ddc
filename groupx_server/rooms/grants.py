"""Tokens of agents' sessions for the room's tools: one for each binding, for as long as it lives.

A token is made when a session is opened and revoked when the session is replaced, its process
ends or the server stops; it is never written down. It alone decides whose call it is. The
counterparts are `sessions`, which hands it to the agent, and the tools' endpoint, which asks
`find`.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable

from groupx_server.agents.base import McpEndpoint
from groupx_server.ledger.callers import Caller

TOKEN_BYTES = 32
SERVER_NAME = "groupx"
"""What the tools' server is called in the agents' programs."""


class Grants:
    """The table of valid tokens."""

    def __init__(self, url: str, on_issue: Callable[[], None] = lambda: None) -> None:
        """`url` is the tools' endpoint; `on_issue` is called with each token that is made, before
        anybody can use it."""
        self._url = url
        self._on_issue = on_issue
        self._callers: dict[bytes, Caller] = {}

    def issue(self, caller: Caller) -> McpEndpoint:
        """Make a token for this binding."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._callers[token.encode()] = caller
        self._on_issue()
        return McpEndpoint(SERVER_NAME, self._url, token)

    def revoke(self, binding_id: str) -> None:
        """Make the binding's token worthless, at once; again is harmless."""
        gone = [t for t, caller in self._callers.items() if caller.binding_id == binding_id]
        for token in gone:
            del self._callers[token]

    @property
    def count(self) -> int:
        """How many tokens are valid now."""
        return len(self._callers)

    def find(self, token: bytes) -> Caller | None:
        """Whose token it is. Takes as long for a near miss as for a far one."""
        found: Caller | None = None
        for known, caller in self._callers.items():
            if hmac.compare_digest(known, token):
                found = caller
        return found
