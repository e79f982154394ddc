"""What was logged inside a `with` block, as dicts of the event's name and fields."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.entries: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith("groupx_"):
            return
        fields = getattr(record, "groupx_fields", {})
        level = record.levelname.lower()
        entry = {"event": record.getMessage(), "log_level": level, **fields}
        if record.exc_info:
            entry["exc_info"] = record.exc_info
        self.entries.append(entry)


@contextmanager
def capture_logs() -> Iterator[list[dict[str, Any]]]:
    """Collect every log entry of our own from debug up."""
    collector = _Collector()
    root = logging.getLogger()
    level = root.level
    root.addHandler(collector)
    root.setLevel(logging.DEBUG)
    try:
        yield collector.entries
    finally:
        root.removeHandler(collector)
        root.setLevel(level)
