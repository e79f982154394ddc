"""`ServerClient`: one async method for each endpoint, typed by the wire models."""

from __future__ import annotations


class ServerClient:
    """The endpoints of one server."""
