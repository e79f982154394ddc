"""Docs that list things are checked against the code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from groupx_shared.config import parse_config
from groupx_shared.meanings import meaning
from groupx_shared.wire.bodies import BODY_MODELS
from groupx_shared.wire.events import EventType
from support.config_docs import SECTIONS, table
from support.event_docs import envelope_table, event_table

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.mark.parametrize("section", SECTIONS)
def test_every_setting_is_documented_with_its_default_and_meaning(section: str) -> None:
    assert table(SECTIONS[section]) in (DOCS / "CONFIG.md").read_text("utf-8")


def test_every_setting_has_a_meaning() -> None:
    silent = [
        f"{section}.{name}"
        for section, model in SECTIONS.items()
        for name in model.model_fields
        if not meaning(model, name)
    ]
    assert silent == []


def test_the_example_config_is_valid() -> None:
    text = (DOCS / "CONFIG.md").read_text("utf-8")
    example = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert example is not None
    json.loads(example[1])
    assert parse_config(example[1].encode(), Path("groupx.json")).default_agent == "guide"


def test_every_event_and_its_body_are_documented() -> None:
    text = (DOCS / "EVENTS.md").read_text("utf-8")
    assert event_table() in text
    assert envelope_table() in text


def test_every_event_type_has_a_body_model() -> None:
    assert set(BODY_MODELS) == set(EventType)


def test_links_between_documents_lead_somewhere() -> None:
    links = [
        (path, target)
        for path in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text("utf-8"))
    ]
    assert [(str(p), target) for p, target in links if not (p.parent / target).exists()] == []


def test_the_readme_has_two_commands_that_do_all_the_set_up() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert re.findall(r"```sh\n(make \w+)\n```", text) == ["make run", "make test"]
