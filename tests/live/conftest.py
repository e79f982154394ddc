"""Live tests run only when asked for by name, and write down what each agent could do.

Asked for: `-m live`, or a path below `tests/live`. Where `GROUPX_LIVE_RESULTS` names a folder,
each case leaves a line there for `capabilities.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from live.programs import PROGRAMS

_RESULTS: Final = os.environ.get("GROUPX_LIVE_RESULTS")
"""Read once: tests remove our variables from their environment."""
_HERE: Final = Path(__file__).parent

for _name in ("codex", "claude"):  # their own tests look for them so
    if PROGRAMS[_name].is_installed:
        os.environ.setdefault(f"GROUPX_LIVE_{_name.upper()}", str(PROGRAMS[_name].path))


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark that names a column of the capability table."""
    config.addinivalue_line("markers", "case(name): what a live test shows of an agent")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave live tests out of a run that did not ask for them."""
    paths = [Path(argument.split("::")[0]).absolute() for argument in config.args]
    if "live" in str(config.option.markexpr) or any(path.is_relative_to(_HERE) for path in paths):
        return
    live = [item for item in items if item.get_closest_marker("live") is not None]
    if live:
        config.hook.pytest_deselected(items=live)
        items[:] = [item for item in items if item not in live]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep the outcome of a case."""
    report = yield
    case = item.get_closest_marker("case")
    if _RESULTS and case is not None and (call.when == "call" or report.skipped):
        _keep(Path(_RESULTS), item, str(case.args[0]), report)
    return report


def _keep(folder: Path, item: pytest.Function, case: str, report: pytest.TestReport) -> None:
    told: dict[str, Any] = dict(report.user_properties)
    line = {
        "agent": item.callspec.params["agent"],
        "case": case,
        "date": datetime.now(UTC).date().isoformat(),
        "outcome": report.outcome,
        **told,
    }
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "results.jsonl").open("a", encoding="utf-8") as results:
        results.write(json.dumps(line, ensure_ascii=False) + "\n")
