"""The program's version and the names of its protocols, in one place."""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.2.0"

EVENT_SCHEMA: Final = "groupx.event/0.1"
"""Schema name in each event envelope; readers must ignore keys they do not know."""

BOOTSTRAP_SCHEMA: Final = "groupx.bootstrap/0.1"
CONTEXT_SCHEMA: Final = "groupx.context/0.4"

RUNTIME_PROTOCOL: Final = "groupx.runtime/2"
"""Spoken between our client and our server. 1 was the earlier program (no token, one room)."""
