"""Request headers, read from the ASGI scope: sorted by name once, then looked up."""

from __future__ import annotations

from typing import Final

from starlette.types import Scope

from groupx_shared.errors import RefusedError

_KEY: Final = "groupx.headers"
"""Key in the scope of the sorted headers."""


def header_values(scope: Scope, name: bytes) -> list[bytes]:
    """All values of a header; `name` in lower case (ASGI gives lower-case names)."""
    by_name: dict[bytes, list[bytes]] | None = scope.get(_KEY)
    if by_name is None:
        by_name = scope[_KEY] = {}
        for key, value in scope["headers"]:
            by_name.setdefault(key, []).append(value)
    return by_name.get(name, [])


def single_header(scope: Scope, name: bytes) -> bytes | None:
    """The header's value, stripped; None without it.

    Raises: RefusedError (INVALID_ENVELOPE) when it is there twice.
    """
    values = header_values(scope, name)
    if len(values) > 1:
        raise RefusedError(f"The header {name.decode()} is there {len(values)} times; send one.")
    return values[0].strip() if values else None
