"""The server's log: JSON lines in a rotating file, bounded fields, nothing that people wrote.

Adapter names, states, durations, ids and error codes are logged; message texts, prompts, tokens,
environments and raw agent output are not. `get_logger(__name__).info("turn.ended", turn=…)` writes
one line with the event's name and its fields.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from groupx_shared.errors import WorkspaceError
from groupx_shared.paths import private_folder
from groupx_shared.text import safe_line

MAX_FIELD_CHARS: Final = 2_000
MAX_TRACE_CHARS: Final = 8_000
MAX_LOG_BYTES: Final = 5 * 1024 * 1024
KEPT_FILES: Final = 3
LOG_NAME: Final = "server.log"
_FIELDS: Final = "groupx_fields"

Field = str | int | float | bool | None


class Logger:
    """Named events with fields, over the standard library's logging."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def debug(self, event: str, **fields: object) -> None:
        self._log(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: object) -> None:
        self._log(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._log(logging.WARNING, event, fields)

    def error(self, event: str, **fields: object) -> None:
        self._log(logging.ERROR, event, fields)

    def exception(self, event: str, **fields: object) -> None:
        """An error with the traceback of the exception being handled."""
        self._log(logging.ERROR, event, fields, with_trace=True)

    def _log(
        self, level: int, event: str, fields: dict[str, object], *, with_trace: bool = False
    ) -> None:
        logger = self._logger
        if not logger.isEnabledFor(level):
            return
        trace = sys.exc_info() if with_trace else None
        # Made here: `Logger.log` looks through the stack for the calling line, which no line of
        # the log shows.
        record = logger.makeRecord(
            logger.name, level, "", 0, event, (), trace, extra={_FIELDS: fields}
        )
        logger.handle(record)


def get_logger(name: str) -> Logger:
    """Return the logger of a module."""
    return Logger(name)


class JsonFormatter(logging.Formatter):
    """One JSON object a line: at, level, logger, event, and the event's fields."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage()[:MAX_FIELD_CHARS],
        }
        fields: dict[str, object] = getattr(record, _FIELDS, {})
        line |= {name: _bounded(value) for name, value in fields.items()}
        if record.exc_info:
            trace = "".join(traceback.format_exception(*record.exc_info))
            line["trace"] = trace[-MAX_TRACE_CHARS:]
        return json.dumps(line, ensure_ascii=False)


class _LogFile(logging.handlers.RotatingFileHandler):
    """Looks at its position instead of asking the system and rendering the line twice: a line may
    end behind the limit, and each turn writes some."""

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - logging's name
        return self.stream is not None and self.stream.tell() >= self.maxBytes


def log_file(data_folder: Path) -> Path:
    """Where the server of this data folder logs."""
    return data_folder / "logs" / LOG_NAME


def open_log(data_folder: Path, *, to_stderr: bool) -> Path:
    """Send the log to the workspace's file (and to stderr in the foreground); return the file.

    Raises: WorkspaceError when it cannot be written.
    """
    path = log_file(data_folder)
    private_folder(path.parent)
    try:
        file = _LogFile(path, maxBytes=MAX_LOG_BYTES, backupCount=KEPT_FILES, encoding="utf-8")
        path.chmod(0o600)
    except OSError as error:
        raise WorkspaceError(
            f"The log file {path} cannot be written: {error.strerror or error}. "
            "Fix the folder's permissions or free space."
        ) from error
    handlers: list[logging.Handler] = [file]
    if to_stderr:
        handlers.append(logging.StreamHandler(sys.stderr))
    for handler in handlers:
        handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.INFO, handlers=handlers, force=True)
    # A line that a full disk does not take is lost; a traceback for each would fill the terminal.
    logging.raiseExceptions = False
    for noisy in ("httpx", "httpcore", "uvicorn.error", "asyncio", "mcp"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    return path


def _bounded(value: object) -> Field:
    if isinstance(value, str):
        return value[-MAX_FIELD_CHARS:]
    if isinstance(value, int | float | bool | None):
        return value
    return safe_line(str(value), MAX_FIELD_CHARS)
