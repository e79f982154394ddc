"""Whether a person's text may be sent as a message."""

from __future__ import annotations

from groupx_server.domain.limits import Limits
from groupx_shared.errors import ErrorCode, RefusedError


def require_text(content: str) -> None:
    """Raises: RefusedError when there is nothing to send."""
    if not content.strip():
        raise RefusedError("The message is empty. Write something and send again.")


def require_length(content: str, limits: Limits) -> None:
    """Raises: RefusedError (MESSAGE_TOO_LARGE)."""
    limit = limits.message_characters
    if len(content) > limit:
        raise RefusedError(
            f"The message has {len(content):,} characters; the limit is {limit:,} "
            "(limits.messageCharacters).",
            code=ErrorCode.MESSAGE_TOO_LARGE,
            details={"characters": len(content), "limit": limit},
        )
