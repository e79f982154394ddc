"""What health tells, and that it costs nothing to tell it."""

from __future__ import annotations

from groupx_server.http.state import ServerState


def test_health_follows_readiness_and_the_ledger() -> None:
    problem: str | None = None
    state = ServerState(1, "a" * 64, "b" * 32, problem=lambda: problem)
    assert state.health().status == "starting"
    state.readiness = "ok"
    assert state.health().status == "ok"
    assert b"problem" not in state.health().to_wire()
    problem = "The disk is full."
    assert state.health().status == "degraded"
    assert state.health().problem == "The disk is full."
    state.close()
    assert state.health().status == "closing"
    assert state.streams_end.is_set()


def test_health_names_the_workspace_and_no_secret() -> None:
    wire = ServerState(1, "a" * 64, "b" * 32).health().to_wire()
    assert b'"runtimeScopeKey":"' + b"a" * 64 in wire
    assert b"token" not in wire.lower()
