"""Holds tests to what they say they do (`support.does`)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from groupx_tui.handlers.registry import Handlers
from support.does import done_by


@pytest.fixture(autouse=True)
def _really_done(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A test that says it does an action fails when that action did not run in it."""
    said = set(done_by(getattr(request, "function", None)))
    if "does_id" in request.fixturenames:
        said.add(request.getfixturevalue("does_id"))
    ran: set[str] = set()
    if said:
        _watch(monkeypatch, ran)
    yield
    assert said <= ran, f"the test does not do {sorted(said - ran)}"


def _watch(monkeypatch: pytest.MonkeyPatch, ran: set[str]) -> None:
    run = Handlers.run

    async def watched(self: Handlers, action_id: str, argument: str = "") -> None:
        await run(self, action_id, argument)
        ran.add(action_id)

    monkeypatch.setattr(Handlers, "run", watched)
