"""docs/ASSISTANT.md tells of every tool of the room assistant, in the words that it gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupx_server.mcp.desk import Tool
from support.tool_docs import arguments_table, operator_tools

MANUAL = (Path(__file__).parents[3] / "docs" / "ASSISTANT.md").read_text("utf-8")


@pytest.mark.parametrize("tool", operator_tools(), ids=lambda tool: tool.name)
def test_a_tool_is_in_the_manual_with_its_arguments(tool: Tool[Any]) -> None:
    assert f"### `{tool.name}`\n\n{tool.description}\n\n{arguments_table(tool)}\n" in MANUAL
