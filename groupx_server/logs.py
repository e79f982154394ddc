"""The server's log: JSON lines in a rotating file, bounded fields, nothing that people wrote.

Adapter names, states, durations, ids and error codes are logged; message texts, prompts, tokens,
environments and raw agent output are not.
"""

from __future__ import annotations

import logging
import logging.handlers
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, Final

import structlog

from groupx_shared.errors import WorkspaceError
from groupx_shared.paths import private_folder
from groupx_shared.text import safe_line

MAX_FIELD_CHARS: Final = 2_000
MAX_LOG_BYTES: Final = 5 * 1024 * 1024
KEPT_FILES: Final = 3
LOG_NAME: Final = "server.log"


def log_file(data_folder: Path) -> Path:
    """Where the server of this data folder logs."""
    return data_folder / "logs" / LOG_NAME


def open_log(data_folder: Path, *, to_stderr: bool) -> Path:
    """Send structlog to the workspace's log file (and to stderr in the foreground); return the
    file. Raises: WorkspaceError when it cannot be written."""
    path = log_file(data_folder)
    private_folder(path.parent)
    try:
        file = logging.handlers.RotatingFileHandler(
            path, maxBytes=MAX_LOG_BYTES, backupCount=KEPT_FILES, encoding="utf-8"
        )
        path.chmod(0o600)
    except OSError as error:
        raise WorkspaceError(
            f"The log file {path} cannot be written: {error.strerror or error}. "
            "Fix the folder's permissions or free space."
        ) from error
    handlers: list[logging.Handler] = [file]
    if to_stderr:
        handlers.append(logging.StreamHandler(sys.stderr))
    logging.basicConfig(level=logging.INFO, handlers=handlers, format="%(message)s", force=True)
    for noisy in ("httpx", "httpcore", "uvicorn.error", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    _configure()
    return path


def _configure() -> None:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _bound_fields,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


def _bound_fields(
    _logger: Any, _method: str, fields: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    for name, value in fields.items():
        if isinstance(value, str) and len(value) > MAX_FIELD_CHARS:
            fields[name] = value[-MAX_FIELD_CHARS:]
        elif not isinstance(value, str | int | float | bool | list | dict | None):
            fields[name] = safe_line(str(value), MAX_FIELD_CHARS)
    return fields
