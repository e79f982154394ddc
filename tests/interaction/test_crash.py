"""What a kill keeps: the text of a running answer, a cancel, and a recovery that was cut short.

That nothing is lost, doubled or disordered at any point is in `test_crash_matrix.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.server_process import ServerProcess, client_of, send, server_in

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(120)]

SCRIPT = "[[think a thought]] [[tool ls]] [[burst 40]]"


def _die_in_a_turn(server: ServerProcess, fail_point: str) -> str:
    """Start with the fail point, send one message, wait for the death; return the turn's id."""
    with client_of(server.start(fail_point)) as client:
        accepted = send(client, SCRIPT, ["bot"], "first")
    assert server.wait_dead() == -9
    return str(accepted["turns"][0]["turnId"])


def test_a_kill_in_the_middle_of_a_streamed_answer_keeps_the_partial_text(
    tmp_path: Path,
) -> None:
    with server_in(tmp_path) as server:
        with client_of(server.start("partial.before_commit:2")) as client:
            accepted = send(client, "[[say the first half]] [[flood]]", ["bot"], "first")
            turn_id = accepted["turns"][0]["turnId"]
        assert server.wait_dead() == -9
        with client_of(server.start()) as client:
            turn = server.wait_turn(client, turn_id)
            assert turn["status"] == "interrupted"
            assert turn["deliveryCertainty"] == "delivered"
            assert turn["partialText"].startswith("the first half")
            events = client.get("/api/rooms/room:main/events").json()["events"]
            ends = [event for event in events if event["type"] == "turn.interrupted"]
            assert ends[0]["body"]["partialText"].startswith("the first half")
        assert len(server.prompts("[[flood]]")) == 1
        assert server.stop() == 0
        assert server.violations() == []


def test_a_cancel_that_is_on_disk_is_kept_through_a_crash(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        with client_of(server.start()) as client:
            busy = send(client, "[[silent]]", ["bot"], "first")["turns"][0]["turnId"]
            server.wait_turn(client, busy, "running", "dispatching")
            waiting = send(client, SCRIPT, ["bot"], "second")["turns"][0]["turnId"]
            reply = client.post(f"/api/turns/{waiting}/cancel", json={"clientCommandId": "c"})
            assert reply.json()["status"] == "cancelled"
        server.kill()
        with client_of(server.start()) as client:
            assert server.wait_turn(client, waiting)["status"] == "cancelled"
            assert server.wait_turn(client, busy)["status"] == "interrupted"
        assert server.prompts("[[burst 40]]") == []
        assert server.stop() == 0
        assert server.violations() == []


def test_a_crash_while_recovering_is_recovered_from(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        turn_id = _die_in_a_turn(server, "turn.after_started")
        server.spawn("recover.before_commit")
        assert server.wait_dead() == -9
        with client_of(server.start()) as client:
            assert server.wait_turn(client, turn_id)["status"] == "interrupted"
        assert server.stop() == 0
        assert server.violations() == []
