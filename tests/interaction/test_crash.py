"""The server is killed at each durable step of a turn, started again, and everything is true."""

from __future__ import annotations

import contextlib
from pathlib import Path

import httpx
import pytest

from support.server_process import ServerProcess, client_of, send, server_in

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(120)]

SCRIPT = "[[think a thought]] [[tool ls]] [[burst 40]]"

BEFORE_THE_PROMPT_LEFT = [
    "claim.before_commit",
    "prompt_invoked.before_commit",
]
"""The turn is done as if nothing had happened: once."""

MAY_HAVE_LEFT = [
    "prompt.before_send",
    "native_started.before_commit",
    "turn.after_started",
    "turn.after_event",
    "terminal.after_reasoning",
    "terminal.after_tools",
    "terminal.after_response",
    "terminal.after_event",
    "terminal.before_commit",
]
"""The turn ends as interrupted and is never sent again."""


def _die_in_a_turn(server: ServerProcess, fail_point: str) -> str:
    """Start with the fail point, send one message, wait for the death; return the turn's id."""
    with client_of(server.start(fail_point)) as client:
        accepted = send(client, SCRIPT, ["bot"], "first")
    assert server.wait_dead() == -9
    return str(accepted["turns"][0]["turnId"])


@pytest.mark.parametrize("fail_point", BEFORE_THE_PROMPT_LEFT)
def test_a_turn_that_never_left_is_done_once_after_the_crash(
    tmp_path: Path, fail_point: str
) -> None:
    with server_in(tmp_path) as server:
        turn_id = _die_in_a_turn(server, fail_point)
        with client_of(server.start()) as client:
            assert server.wait_turn(client, turn_id)["status"] == "completed"
        assert len(server.prompts("[[burst 40]]")) == 1
        assert server.stop() == 0
        assert server.violations() == []


@pytest.mark.parametrize("fail_point", MAY_HAVE_LEFT)
def test_a_turn_that_may_have_left_is_interrupted_and_never_sent_again(
    tmp_path: Path, fail_point: str
) -> None:
    with server_in(tmp_path) as server:
        turn_id = _die_in_a_turn(server, fail_point)
        with client_of(server.start()) as client:
            turn = server.wait_turn(client, turn_id)
            assert turn["status"] == "interrupted"
            assert turn["deliveryCertainty"] in ("unknown", "delivered")
            after = send(client, "[[say still here]]", ["bot"], "second")
            next_turn = server.wait_turn(client, after["turns"][0]["turnId"])
            assert next_turn["content"] == "still here"
        assert len(server.prompts("[[burst 40]]")) <= 1
        assert server.stop() == 0
        assert server.violations() == []


def test_a_turn_whose_end_is_on_disk_stays_as_it_ended(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        turn_id = _die_in_a_turn(server, "terminal.after_commit")
        with client_of(server.start()) as client:
            assert server.wait_turn(client, turn_id)["status"] == "completed"
        assert len(server.prompts("[[burst 40]]")) == 1
        assert server.stop() == 0
        assert server.violations() == []


@pytest.mark.parametrize("fail_point", ["accept.before_commit", "writer.before_commit:2"])
def test_a_message_that_was_not_accepted_left_nothing_and_can_be_sent_again(
    tmp_path: Path, fail_point: str
) -> None:
    with server_in(tmp_path) as server:
        with client_of(server.start(fail_point)) as client, contextlib.suppress(httpx.HTTPError):
            send(client, SCRIPT, ["bot"], "first")
        assert server.wait_dead() == -9
        with client_of(server.start()) as client:
            assert client.get("/api/rooms/room:main/events").json()["events"] == []
            accepted = send(client, SCRIPT, ["bot"], "first")
            server.wait_turn(client, accepted["turns"][0]["turnId"], "completed")
        assert server.stop() == 0
        assert server.violations() == []


def test_an_accept_whose_answer_was_lost_is_repeated_without_a_second_message(
    tmp_path: Path,
) -> None:
    with server_in(tmp_path) as server:
        # The first commit is the start's own; the second is the accept.
        with client_of(server.start("writer.after_commit:2")) as client:
            with contextlib.suppress(httpx.HTTPError):
                send(client, SCRIPT, ["bot"], "first")
            assert server.wait_dead() == -9
        with client_of(server.start()) as client:
            again = send(client, SCRIPT, ["bot"], "first")
            server.wait_turn(client, again["turns"][0]["turnId"], "completed")
            page = client.get("/api/rooms/room:main/events?type=message.created").json()
            assert [e["actor"]["actorId"] for e in page["events"]] == ["user:web", "agent:bot"]
        assert len(server.prompts("[[burst 40]]")) == 1
        assert server.stop() == 0
        assert server.violations() == []


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
