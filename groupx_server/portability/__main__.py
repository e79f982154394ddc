"""`python -m groupx_server.portability`: the commands on files, for the command line.

    verify FILE             prove a database
    list FILE               the backups that were made of it, newest first
    backup FILE TARGET      copy it while it is in use
    restore BACKUP TARGET   make a new database from a backup

They work on files alone, with or without a server. One JSON object on stdout; exit code 0: done;
1: done, but rules are broken; 3: not possible, `error` says why. The counterpart is the command
line, which shows the object and never opens a database itself.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from groupx_server.ledger.backup import copy_online
from groupx_server.ledger.connection import dated_backups
from groupx_server.ledger.examine import Examination, examine
from groupx_server.ledger.times import to_iso
from groupx_server.portability.restore import restore
from groupx_shared.errors import GroupXError

EXIT_BROKEN: Final = 1
EXIT_IMPOSSIBLE: Final = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    options = _parse(arguments)
    commands: dict[str, Callable[[], dict[str, Any]]] = {
        "verify": lambda: _report(examine(options.file, is_deep=options.deep)),
        "list": lambda: _list(options.file),
        "backup": lambda: _back_up(options.file, options.target),
        "restore": lambda: _restore(options.file, options.target),
    }
    started = time.monotonic()
    try:
        result = commands[options.command]()
    except GroupXError as error:
        _print({"error": {"code": error.code, "message": error.message, "details": error.details}})
        return EXIT_IMPOSSIBLE
    _print(result | {"seconds": round(time.monotonic() - started, 3)})
    return EXIT_BROKEN if result.get("violations") else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="groupx_server.portability")
    commands = parser.add_subparsers(dest="command", required=True)
    has_targets = {"verify": False, "list": False, "backup": True, "restore": True}
    for name, has_target in has_targets.items():
        command = commands.add_parser(name)
        command.add_argument("file", type=Path)
        if name == "verify":
            command.add_argument("--deep", action="store_true")
        if has_target:
            command.add_argument("target", type=Path)
    return parser.parse_args(arguments)


def _list(database: Path) -> dict[str, Any]:
    backups = [
        {"file": str(path), "bytes": path.stat().st_size, "madeAt": to_iso(made_at)}
        for path, made_at in dated_backups(database.absolute())
    ]
    return {"file": str(database.absolute()), "backups": backups}


def _back_up(source: Path, target: Path) -> dict[str, Any]:
    facts = copy_online(source.absolute(), target.absolute())
    return {
        "file": str(target.absolute()),
        "bytes": target.stat().st_size,
        "version": facts.version,
        "events": facts.rows.get("events", 0),
        "turns": facts.rows.get("turns", 0),
    }


def _restore(backup: Path, target: Path) -> dict[str, Any]:
    found = restore(backup.absolute(), target.absolute())
    return _report(found) | {"restored": str(target.absolute())}


def _report(found: Examination) -> dict[str, Any]:
    contents = found.contents
    held: dict[str, Any] = {}
    if contents is not None:
        held = {
            "version": contents.version,
            "ledgerId": contents.ledger_id,
            "lastSeq": contents.last_seq,
            "events": contents.events,
            "messages": contents.messages,
            "rooms": contents.rooms,
            "agents": contents.agents,
            "turns": dict(contents.turns),
        }
    return {
        "file": str(found.path),
        "isNewer": found.is_newer,
        "rules": found.rules,
        "violations": [{"rule": v.rule, "rows": list(v.rows)} for v in found.violations],
        **held,
    }


def _print(result: dict[str, Any]) -> None:
    print(json.dumps(result, ensure_ascii=True))  # noqa: T201 - this is the command's output


if __name__ == "__main__":
    sys.exit(main())
