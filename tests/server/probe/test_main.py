"""`python -m groupx_server.probe`: one JSON object a line."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from groupx_server.probe.__main__ import main
from server.probe.probe_kit import scripted

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "groupx.json").write_text(json.dumps({"agents": {"bot": scripted()}}))
    return tmp_path


class Probe:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    def __call__(self, *words: str) -> tuple[int, list[dict[str, Any]]]:
        code = main(["--config", str(self._folder), *words])
        out = self._capsys.readouterr().out
        return code, [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def probe(folder: Path, capsys: pytest.CaptureFixture[str]) -> Probe:
    return Probe(folder, capsys)


def test_a_survey_reports_each_agent_once(probe: Probe) -> None:
    code, lines = probe("survey")
    agents = [line["report"]["agent"] for line in lines]
    assert code == 0
    assert (agents[0], len(set(agents))) == ("bot", len(agents))
    code, lines = probe("survey", "--start")
    assert {"begin": "bot"} in lines
    states = {
        line["report"]["agent"]: line["report"]["state"] for line in lines if "report" in line
    }
    assert states.pop("bot") == "ready"
    assert set(states.values()) == {"absent"}


def test_one_agent_is_tried_and_given_a_turn(probe: Probe) -> None:
    code, (line,) = probe("try", "bot")
    assert (code, line["report"]["state"]) == (0, "ready")
    assert "turnS" not in line["report"]
    code, lines = probe("turn", "bot")
    assert lines[0] == {"begin": "bot"}
    assert lines[1]["report"]["turnS"] > 0


def test_an_absent_one_gets_no_turn(probe: Probe) -> None:
    code, (line,) = probe("turn", "codex")
    assert (code, line["report"]["state"]) == (0, "absent")


def test_a_refusal_is_an_error_line(probe: Probe) -> None:
    code, (line,) = probe("try", "bto")
    assert code == 3
    assert line["error"]["code"] == "UNKNOWN_ACTOR"


def test_with_an_error_in_the_config_known_agents_are_still_looked_at(
    probe: Probe, folder: Path
) -> None:
    (folder / "groupx.json").write_text("{")
    code, lines = probe("survey")
    assert (code, lines[0]["report"]["agent"]) == (0, "codex")
    code, (line,) = probe("try", "bot")
    assert (code, "not valid JSON" in line["error"]["message"]) == (3, True)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"agent": "k", "settings": {"driver": "kimmi"}}, "Did you mean “kimi”?"),
        ({"agent": "k", "settings": {"nmae": "x"}}, "Did you mean “name”?"),
        ({"agent": "k", "settings": {"driver": "kimi", "options": {"x": 1}}}, "not known"),
    ],
)
def test_settings_are_checked_before_they_are_written(
    probe: Probe, monkeypatch: pytest.MonkeyPatch, question: dict[str, Any], said: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(question)))
    code, (line,) = probe("check")
    assert (code, said in line["error"]["message"]) == (3, True)
    good = {"agent": "k", "settings": {"driver": "kimi"}}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(good)))
    code, (line,) = probe("check")
    assert (code, line["report"]["state"]) == (0, "absent")
