"""Subjects made of scripted agents, and programs that note how they were started."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from groupx_server.probe.subjects import Subject, configured_subjects
from groupx_shared.config import parse_config
from groupx_shared.settings import Config

SCRIPT = Path(__file__).parents[2] / "support" / "scripted_agent.py"


def scripted(*options: str, **settings: Any) -> dict[str, Any]:
    """Settings of an agent that is a scripted one."""
    command = {"executable": sys.executable, "args": [str(SCRIPT), *options]}
    return {"driver": "acp", "command": command, **settings}


def config_of(agents: dict[str, Any], **more: Any) -> Config:
    """A checked config."""
    import json

    return parse_config(json.dumps({"agents": agents, **more}).encode(), Path("groupx.json"))


def subject_of(folder: Path, settings: dict[str, Any], **more: Any) -> Subject:
    """The subject that one agent's settings make."""
    (subject,) = configured_subjects(config_of({"bot": settings}, **more), folder)
    return subject


def noting_program(path: Path, text: str = "", status: int = 0) -> Path:
    """A program that prints `text` and notes its arguments in `<path>.log`, one start a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "args: $*" >> {path}.log\necho "{text}"\nexit {status}\n')
    path.chmod(0o755)
    return path


def starts_of(path: Path) -> list[str]:
    """How the program was started, each time."""
    log = Path(f"{path}.log")
    return log.read_text().splitlines() if log.exists() else []
