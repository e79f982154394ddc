"""Who gets a message: exactly the agents that are named, else the one that is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.state.model import AgentView, Author
from groupx_tui.widgets.composer.targets import default_agent, find_targets
from support.fake_session import CODEX, GUIDE, KIMI, OFF, YOU


def agent(handle: str, *, enabled: bool = True) -> AgentView:
    return AgentView(f"agent:{handle}", handle.title(), "ready", None, enabled=enabled)


AGENTS = (GUIDE, CODEX, KIMI, OFF)
HYPHENS = (agent("kimi"), agent("kimi-k2"), agent("v1.5"))


def handles(text: str, agents: tuple[AgentView, ...] = AGENTS) -> list[str]:
    return [found.handle for found in find_targets(text, agents).agents]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@codex look", ["codex"]),
        ("look, @codex.", ["codex"]),
        ("(@codex, @guide!)", ["codex", "guide"]),
        ("@Codex and @CODEX", ["codex"]),
        ("line one\n@codex two", ["codex"]),
        ("@old too", ["old"]),
        ("mail me@codex.org", ["guide"]),
        ("path/@codex", ["guide"]),
        ("@codexx", ["guide"]),
        ("@@codex", ["guide"]),
        ("use `@codex` here", ["guide"]),
        ("```\n@codex\n```\nplease", ["guide"]),
        ("```\n@codex", ["guide"]),
        ("`a` @codex `b`", ["codex"]),
        ("nobody named", ["guide"]),
        ("", ["guide"]),
    ],
)
def test_only_a_known_handle_that_stands_for_itself_is_a_target(
    text: str, found: list[str]
) -> None:
    assert handles(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@kimi-k2 go", ["kimi-k2"]),
        ("@kimi go", ["kimi"]),
        ("@kimi-k3 go", ["kimi"]),
        ("@kimi- go", ["kimi"]),
        ("@v1.5 go", ["v1.5"]),
        ("ask @v1.5.", ["v1.5"]),
        ("@v1 go", ["kimi"]),
    ],
)
def test_a_handle_is_never_taken_for_one_that_starts_like_it(text: str, found: list[str]) -> None:
    found_here = find_targets(text, HYPHENS)
    expected = [] if text in ("@kimi-k3 go", "@v1 go") else found
    mentioned = found_here.agents if found_here.reason == "mention" else ()
    assert [one.handle for one in mentioned] == expected


def test_all_means_every_agent_that_is_switched_on() -> None:
    targets = find_targets("@all hello", AGENTS)
    assert targets.reason == "all"
    assert targets.actor_ids == ("agent:guide", "agent:codex", "agent:kimi-k2")


def test_an_agent_called_all_is_that_agent() -> None:
    targets = find_targets("@all hello", (agent("all"), agent("codex")))
    assert (targets.reason, targets.actor_ids) == ("mention", ("agent:all",))


def test_a_reply_goes_to_the_agent_that_is_answered() -> None:
    targets = find_targets("and then?", AGENTS, Author("agent:codex", "Codex", "agent"))
    assert (targets.reason, targets.actor_ids) == ("reply", ("agent:codex",))


def test_a_name_in_a_reply_counts_more_than_the_reply() -> None:
    targets = find_targets("@guide?", AGENTS, Author("agent:codex", "Codex", "agent"))
    assert targets.actor_ids == ("agent:guide",)


def test_a_reply_to_a_person_or_a_gone_agent_goes_to_the_default() -> None:
    for author in (YOU, Author("agent:gone", "Gone", "agent")):
        assert find_targets("so", AGENTS, author).reason == "default"


def test_a_leading_name_that_is_no_agent_is_told() -> None:
    assert find_targets("@kimmi go", AGENTS).unknown == "kimmi"
    assert find_targets("go @kimmi", AGENTS).unknown == ""
    assert find_targets("@codex go", AGENTS).unknown == ""


def test_without_any_agent_nobody_gets_it() -> None:
    assert find_targets("hello", ()).reason == "nobody"
    assert find_targets("hello", (OFF,)).reason == "nobody"


def test_the_default_is_the_marked_agent_else_the_first_enabled_one() -> None:
    assert default_agent((CODEX, GUIDE)) is GUIDE
    assert default_agent((OFF, CODEX)) is CODEX
    assert default_agent((OFF,)) is None


@given(st.text(alphabet="@codexguide` \n.-kim2", max_size=60))
def test_whatever_is_written_each_target_is_a_known_agent_once(text: str) -> None:
    found = handles(text)
    assert len(found) == len(set(found))
    assert set(found) <= {"guide", "codex", "kimi-k2", "old"}
