"""Credentials: who may call, and as whom. The author of a message follows from the token.

Tokens are compared with the present table at each request, so a changed token counts at once.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from starlette.types import Scope

from groupx_server.http.headers import header_values
from groupx_server.ledger.accept import Source
from groupx_shared.errors import ErrorCode, RefusedError

READING = frozenset({"GET", "HEAD"})


class Access(StrEnum):
    """What a token allows."""

    OPERATOR = "operator"
    """Everything: the person's own clients."""
    READER = "reader"
    """GET only: the built-in agent, which looks things up in the rooms."""


@dataclass(frozen=True, slots=True)
class Credential:
    """What one token stands for."""

    access: Access = Access.OPERATOR
    source: Source = field(default_factory=Source)


class Credentials:
    """The table of valid tokens."""

    def __init__(self, tokens: Mapping[str, Credential]) -> None:
        self._tokens: dict[bytes, Credential] = {}
        self.replace(tokens)

    def replace(self, tokens: Mapping[str, Credential]) -> None:
        """Make `tokens` the only valid ones, from the next request on."""
        self._tokens = {token.encode(): credential for token, credential in tokens.items()}

    def find(self, token: bytes) -> Credential | None:
        """The credential of `token`. Takes as long for a near miss as for a far one."""
        found: Credential | None = None
        for known, credential in self._tokens.items():
            if hmac.compare_digest(known, token):
                found = credential
        return found


def authenticate(scope: Scope, credentials: Credentials) -> Credential:
    """Return the caller's credential.

    Raises: RefusedError (UNAUTHORIZED; FORBIDDEN_SCOPE for a reader that would change something).
    """
    values = header_values(scope, b"authorization")
    kind, _, token = values[0].partition(b" ") if len(values) == 1 else (b"", b"", b"")
    credential = credentials.find(token.strip()) if kind.lower() == b"bearer" else None
    if credential is None:
        found = "This token is not valid (any more)" if values else "A token is needed"
        raise RefusedError(
            f"{found}. The server's runtime file holds the present one; send it as "
            "“Authorization: Bearer <token>”.",
            code=ErrorCode.UNAUTHORIZED,
        )
    if credential.access is Access.READER and scope["method"] not in READING:
        raise RefusedError(
            f"This token may only read; {scope['method']} needs the operator's token.",
            code=ErrorCode.FORBIDDEN_SCOPE,
        )
    return credential
