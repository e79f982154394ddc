"""How a Claude Code process is started for one session: arguments, environment, the room's tools.

Invariants: only arguments and environment, never a write to Claude Code's own configuration; the
token of the room's tools stands in no argument (everybody can read those) but in a file that only
we can read and that is gone once the program has read it. The counterpart is `claude_driver.py`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from groupx_server.agents.base import McpEndpoint
from groupx_server.agents.claude import UNRESTRICTED
from groupx_server.agents.option_values import read_seconds, refuse_unknown
from groupx_shared.errors import AgentError

_OPTION_KEYS: Final = ("handshake_s",)
_ARGV: Final = (
    "--print",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-mode",
    UNRESTRICTED,
)
_ENV: Final = {
    # no telemetry and no look for updates in the middle of a turn
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    # sub-agents and commands end within the turn; else their results come in a turn of their own
    # that nobody asked for, and no room would show
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
}


@dataclass(frozen=True, slots=True)
class ClaudeOptions:
    """The profile's data for this driver; every key may be absent."""

    handshake_s: float | None = None
    """For machines that need longer than the general bound to start it."""

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> ClaudeOptions:
        """Read `AgentSpec.options`. Raises: ConfigError naming the wrong key."""
        refuse_unknown(options, _OPTION_KEYS, "claude")
        return cls(handshake_s=read_seconds(options, "handshake_s", None))


def session_argv(
    command: Sequence[str], session_id: str, *, resume: bool, mcp_config: Path | None
) -> list[str]:
    """The arguments for one session; `command` is the program and what its settings add."""
    session = ["--resume" if resume else "--session-id", session_id]
    tools = [] if mcp_config is None else ["--mcp-config", str(mcp_config)]
    return [*command, *_ARGV, *tools, *session]


def session_env(configured: Mapping[str, str], *, is_root: bool) -> dict[str, str]:
    """The variables of our own beneath what the settings say. Root may work without asking only
    in a sandbox: whoever runs GroupX as root says that this is one."""
    sandbox = {"IS_SANDBOX": "1"} if is_root else {}
    return {**_ENV, **sandbox, **configured}


@contextmanager
def mcp_config_file(mcp: McpEndpoint | None) -> Iterator[Path | None]:
    """A file, readable by us alone, that tells of the room's tools; None without tools. It lives
    as long as the block. Raises: AgentError when it cannot be written."""
    if mcp is None:
        yield None
        return
    server = {
        "type": "http",
        "url": mcp.url,
        "headers": {"Authorization": f"Bearer {mcp.token}"},
        "alwaysLoad": True,  # else the model sees only names, and must search for the tools
    }
    path = _write_private(orjson.dumps({"mcpServers": {mcp.name: server}}))
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _write_private(data: bytes) -> Path:
    try:
        descriptor, name = tempfile.mkstemp(prefix="groupx-", suffix=".json")  # mode 0600
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        raise AgentError(
            f"The room's tools could not be written down for Claude Code: {error}. Make room in "
            f"{tempfile.gettempdir()}, or set TMPDIR to a folder that can be written."
        ) from error
    return Path(name)
