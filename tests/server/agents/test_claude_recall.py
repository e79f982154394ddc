"""What Claude Code's transcript tells about one turn (lines as seen on 2.1.332)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.agents.base import Recalled
from groupx_server.agents.claude_recall import find_transcript, find_turn, read_turn
from groupx_server.domain.native import TurnCompleted, TurnFailed
from groupx_shared.errors import AgentError

SESSION = "a22370aa-f2ba-4220-91d7-51232405638f"


def _nobody(_: str) -> bool:
    return False


def _user(text: str, message_id: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    message = {"role": "user", "content": content}
    return {"type": "user", "uuid": message_id, "isSidechain": False, "message": message, **more}


def _said(text: str, stop_reason: str | None = "end_turn", **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    message = {"role": "assistant", "content": content, "stop_reason": stop_reason}
    return {"type": "assistant", "uuid": "a", "isSidechain": False, "message": message, **more}


def _result_of_a_tool() -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": "t", "content": "done"}]
    return {"type": "user", "uuid": "r", "message": {"role": "user", "content": content}}


def _lines(*entries: Any) -> list[bytes]:
    return [json.dumps(entry).encode() + b"\n" for entry in entries]


NOISE = ({"type": "queue-operation"}, {"type": "attachment", "uuid": "x"}, {"type": "atis-latch"})
DAY = _lines(
    NOISE[0],
    _user("the first", "m1"),
    NOISE[1],
    _said("Looking.", "tool_use"),
    _said("of a sub-agent", isSidechain=True),
    _result_of_a_tool(),
    _said("First."),
    NOISE[2],
    _user("the second", "m2"),
    _said("Begun", None),
)


def test_a_completed_turn_gives_its_answer_by_id_or_by_prompt() -> None:
    expected = Recalled(TurnCompleted(content="Looking.\n\nFirst."))
    assert find_turn(DAY, "m1", _nobody) == expected
    assert find_turn(DAY, None, lambda text: text == "the first") == expected


@pytest.mark.parametrize(
    "rest",
    [
        (),
        (_said("half", None),),
        (_said("I look.", "tool_use"),),
        (_said("I look.", "tool_use"), _result_of_a_tool()),
        (_said("whole"), _result_of_a_tool()),
        (_said("half", None), _user("[Request interrupted by user]", "i")),
    ],
)
def test_a_turn_that_did_not_end_was_had_and_its_end_is_not_known(rest: tuple[Any, ...]) -> None:
    assert find_turn(_lines(_user("q", "m1"), *rest), "m1", _nobody) == Recalled(None)


def test_a_turn_that_is_not_there_is_not_found() -> None:
    assert find_turn(DAY, "m9", _nobody) is None
    assert find_turn([], "m1", _nobody) is None
    assert find_turn(_lines(_user("q", "m1", isSidechain=True)), "m1", _nobody) is None


def test_a_failed_turn_gives_its_reason() -> None:
    failed = _said("API Error: 400 no credit", "stop_sequence", isApiErrorMessage=True)
    found = find_turn(_lines(_user("q", "m1"), failed), "m1", _nobody)
    assert found is not None
    assert isinstance(found.end, TurnFailed)
    assert found.end.message == "API Error: 400 no credit"


def test_a_line_that_the_kill_cut_is_passed_over() -> None:
    assert find_turn([*DAY[:2], DAY[3][:40]], "m1", _nobody) == Recalled(None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


LINE = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant"])}, optional={"message": JSON, "uuid": JSON}
)


@given(st.lists(JSON | LINE))
def test_nothing_that_stands_there_raises(entries: list[Any]) -> None:
    find_turn(_lines(_user("q", "m1"), *entries), "m1", lambda _: True)


@pytest.mark.parametrize("kind", [[], {}, 3, None])
def test_a_line_whose_type_is_no_text_is_passed_over(kind: object) -> None:
    odd = {**_user("said", "odd"), "type": kind}
    assert find_turn(_lines(odd), "odd", _nobody) is None


def test_the_transcript_is_found_in_whatever_folder_the_session_worked(tmp_path: Path) -> None:
    file = tmp_path / ".claude" / "projects" / "-work-here" / f"{SESSION}.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"".join(DAY))
    assert find_transcript({"HOME": str(tmp_path)}, SESSION) == file
    assert find_transcript({"CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}, SESSION) == file
    assert find_transcript({"HOME": str(tmp_path / "elsewhere")}, SESSION) is None
    assert read_turn(file, "m2", _nobody) == Recalled(None)


@pytest.mark.parametrize("name", ["", "../../secrets", "*", SESSION + "/../x"])
def test_no_other_file_than_a_transcript_is_looked_for(tmp_path: Path, name: str) -> None:
    assert find_transcript({"HOME": str(tmp_path)}, name) is None


def test_a_transcript_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=str(tmp_path)):
        read_turn(tmp_path, "m1", _nobody)
