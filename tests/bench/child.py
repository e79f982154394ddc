"""Measures some groups in this process and prints each row as a line of JSON when it is there.

Counterpart: `__main__`, which starts this program once for each group and bounds it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from bench.rows import Figure, Put, Row, Size, SkippedError
from groupx_server.http.serve import loop_factory

REASON_CHARS = 240


def load(name: str) -> ModuleType:
    """The module of a group: `ROWS`, and `measure(size, put)` or several of its kind in `PARTS`."""
    return import_module(f"bench.groups.{name}")


class Report:
    """Prints figures as they come, and at the end of a group what is missing."""

    def __init__(self, group: str) -> None:
        self._group = group
        self._rows: dict[str, Row] = {row.key: row for row in load(group).ROWS}
        self._missing = dict.fromkeys(self._rows)

    def put(self, key: str, figure: Figure) -> None:
        """A figure is there."""
        self._missing.pop(key)
        _say(group=self._group, row=key, figure=[figure.value, figure.floor, figure.note])

    def close(self, trouble: str, *, skipped: bool = False) -> None:
        """The rest has no figure, for this reason."""
        for key in self._missing:
            _say(group=self._group, row=key, trouble=trouble, skipped=skipped)


def _say(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


def run(group: str, size: Size) -> None:
    """Measure one group; whatever happens in it is told in its rows."""
    report, module = Report(group), load(group)
    troubles: list[str] = []
    is_skipped = False
    for part in getattr(module, "PARTS", None) or (module.measure,):
        try:
            _measure(part, size, report.put)
        except SkippedError as reason:
            troubles.append(str(reason))
            is_skipped = True
        except Exception as error:  # noqa: BLE001 - the border: the other parts go on
            traceback.print_exc(file=sys.stderr)
            troubles.append(_reason(error))
            is_skipped = False
    report.close("; ".join(troubles) or "it was not measured", skipped=is_skipped)


def _measure(part: Callable[[Size, Put], Any], size: Size, put: Put) -> None:
    if asyncio.iscoroutinefunction(part):
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(part(size, put))
    else:
        part(size, put)


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^")] or [""]
    text = lines[0] if len(lines) == 1 else f"{lines[0]} … {lines[-1]}"
    return f"{type(error).__name__}: {text}"[:REASON_CHARS]


def main() -> None:
    """Arguments: the size as JSON, then the groups."""
    given = json.loads(sys.argv[1])
    size = Size(**{**given, "sizes": tuple(given["sizes"])})
    for group in sys.argv[2:]:
        run(group, size)


if __name__ == "__main__":
    main()
