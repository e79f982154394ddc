"""A session that is lost while its agent is usable: the room resumes it, the agent stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.fake_driver import FakeSession
from support.rooms import house


async def test_it_is_resumed_by_the_same_agent_at_the_next_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: set[str] = set()
    is_lost = property(lambda session: session.native_session_id in lost)
    monkeypatch.setattr(FakeSession, "lost", is_lost)
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send())
        lost.add("native-1-1")
        assert (await rooms.ended(await rooms.send())).status == "completed"
        assert rooms.fleet.starts == 1
        asked = [request.resume_native_id for request in rooms.fleet.requests]
        assert asked == [None, "native-1-1"]
        assert "session.resumed" in await rooms.types()
