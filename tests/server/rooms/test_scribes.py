"""A text counts only when its last line is the one that was asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from groupx_server.agents.base import AgentSpec
from groupx_server.rooms.roster import RosterEntry
from groupx_server.rooms.scribes import END_RULE, end_line, without_end
from groupx_shared.errors import AgentError, ErrorCode
from support.fake_driver import fake_spec

SPEC: AgentSpec = fake_spec("a")
ENTRY = RosterEntry("agent:a", "A", "codex", None, True, SPEC)
END = "[end of text abc]"


@pytest.mark.parametrize("last", [END, f"`{END}`", f"**{END}**", f"{END}\n", f"\n\n{END}."])
def test_the_last_line_is_taken_off(last: str) -> None:
    assert without_end(f"- one\n- two\n{last}", END) == "- one\n- two"


@pytest.mark.parametrize("text", ["- one\n- tw", "Error: no credit", "", f"{END}\nand more"])
def test_a_text_without_it_is_cut_or_an_error(text: str) -> None:
    with pytest.raises(AgentError) as refused:
        without_end(text, END)
    assert refused.value.code is ErrorCode.PROTOCOL_INVALID_MESSAGE
    assert text[:10].split("\n", maxsplit=1)[0] in refused.value.message


def test_the_line_is_a_new_one_each_time_and_the_last_of_the_prompt() -> None:
    first, second = end_line(ENTRY, "sum up"), end_line(ENTRY, "sum up")
    assert first != second
    assert ("sum up" + END_RULE.format(end=first)).endswith(first)


def test_the_built_in_agent_needs_none(tmp_path: Path) -> None:
    builtin = replace(ENTRY, driver="builtin")
    assert end_line(builtin, "sum up") == ""
    assert without_end("- one", "") == "- one"
