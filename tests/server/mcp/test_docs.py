"""docs/MCP.md tells of every tool, argument and key, in the words that agents get."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupx_server.mcp.desk import Tool
from groupx_server.mcp.teaching import INSTRUCTIONS
from groupx_shared.wire.base import WireModel
from support.tool_docs import (
    all_tools,
    arguments_table,
    operator_tools,
    result_table,
    shapes,
)

MANUAL = (Path(__file__).parents[3] / "docs" / "MCP.md").read_text("utf-8")
TOOLS = all_tools()


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_is_in_the_manual_with_its_arguments_and_results(tool: Tool[Any]) -> None:
    results = ", or ".join(f"*{model.__name__}*" for model in tool.results)
    head = f"### `{tool.name}`\n\n{tool.description}\n\n"
    assert f"{head}{arguments_table(tool)}\n\nResult: {results}.\n" in MANUAL


@pytest.mark.parametrize("model", shapes(TOOLS), ids=lambda model: model.__name__)
def test_a_result_is_in_the_manual_with_every_key(model: type[WireModel]) -> None:
    assert f"### {model.__name__}\n\n{result_table(model)}" in MANUAL


def test_no_other_tool_is_in_the_manual() -> None:
    assert MANUAL.count("\n### `") == len(TOOLS)


def test_agents_are_taught_of_every_tool_that_wakes_waits_or_looks() -> None:
    for name in ("publish", "send", "ask", "collect", "read", "roster"):
        assert f"`{name}`" in INSTRUCTIONS
    assert len(INSTRUCTIONS) < 3_000


def test_no_tool_removes_a_text_for_good() -> None:
    told = [f"{tool.name} {tool.description}".lower() for tool in [*TOOLS, *operator_tools()]]
    assert not [each for each in told if "redact" in each or "purge" in each or "for good" in each]
