"""Rows as the use cases hand them out: events whose JSON is ready and is never parsed again.

The shapes are the ledger's; they are named here so that the fan-out and the HTTP layer take them
from the use cases and never reach into the ledger.
"""

from __future__ import annotations

from groupx_server.ledger.events import EventRows
from groupx_server.ledger.events import TailRow as DurableFrameSource

__all__ = ["DurableFrameSource", "EventRows"]
