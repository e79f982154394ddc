"""Request headers, read from the ASGI scope without building an object for them."""

from __future__ import annotations

from starlette.types import Scope

from groupx_shared.errors import RefusedError


def header_values(scope: Scope, name: bytes) -> list[bytes]:
    """All values of a header; `name` in lower case (ASGI gives lower-case names)."""
    return [value for key, value in scope["headers"] if key == name]


def single_header(scope: Scope, name: bytes) -> bytes | None:
    """The header's value, stripped; None without it.

    Raises: RefusedError (INVALID_ENVELOPE) when it is there twice.
    """
    values = header_values(scope, name)
    if len(values) > 1:
        raise RefusedError(f"The header {name.decode()} is there {len(values)} times; send one.")
    return values[0].strip() if values else None
