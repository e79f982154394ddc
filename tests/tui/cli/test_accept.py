"""One message is accepted once, or the person is told how to find out."""

from __future__ import annotations

import pytest

from groupx_shared.errors import ServerUnreachableError
from groupx_shared.runtime import remove_runtime
from groupx_tui.cli.accept import accept
from groupx_tui.cli.api import Api, ServerRefusedError
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from support.cli_clock import SteppedClock
from support.cli_server import CliServer, accepted

MESSAGE = {"clientCommandId": "cmd_1", "roomId": "room:main", "to": [], "content": "hi"}
BROKEN: tuple[int, dict[str, object]] = (0, {})


def refusal(status: int, code: str) -> tuple[int, dict[str, object]]:
    return status, {"error": {"code": code, "message": "No."}}


def api_of(server: CliServer) -> Api:
    return Api(server.workspace, server.runtime())


def test_a_lost_reply_is_asked_for_again_with_the_same_id(server: CliServer) -> None:
    server.replies["POST", "/api/messages"] = [BROKEN, BROKEN]
    clock = SteppedClock()
    assert accept(api_of(server), MESSAGE, clock.clock) == accepted("room:main", [])
    assert [body for _, _, body in server.requests] == [MESSAGE] * 3


@pytest.mark.parametrize("answer", [refusal(503, "SHUTTING_DOWN"), refusal(401, "UNAUTHORIZED")])
def test_a_restarting_server_is_tried_again(
    server: CliServer, answer: tuple[int, dict[str, object]]
) -> None:
    server.replies["POST", "/api/messages"] = [answer]
    accept(api_of(server), MESSAGE, SteppedClock().clock)
    assert len(server.requests) == 2


def test_the_new_token_of_a_restarted_server_is_used(server: CliServer) -> None:
    api = api_of(server)
    server.token = "another"
    server.publish()
    accept(api, MESSAGE, SteppedClock().clock)
    assert api.runtime.token == "another"


def test_another_refusal_is_final(server: CliServer) -> None:
    server.replies["POST", "/api/messages"] = refusal(404, "UNKNOWN_ROOM")
    with pytest.raises(ServerRefusedError):
        accept(api_of(server), MESSAGE, SteppedClock().clock)
    assert len(server.requests) == 1


def test_a_shutdown_that_lasts_is_no_server(server: CliServer) -> None:
    server.replies["POST", "/api/messages"] = refusal(503, "SHUTTING_DOWN")
    clock = SteppedClock()
    with pytest.raises(ServerRefusedError):
        accept(api_of(server), MESSAGE, clock.clock)
    assert sum(clock.pauses) == pytest.approx(15.0, abs=0.5)


def test_when_nobody_knows_it_says_how_to_find_out(server: CliServer) -> None:
    server.replies["POST", "/api/messages"] = BROKEN
    with pytest.raises(CommandError) as caught:
        accept(api_of(server), MESSAGE, SteppedClock().clock)
    assert caught.value.exit_code is ExitCode.UNCERTAIN
    assert "--id cmd_1" in caught.value.message


def test_a_message_that_never_went_out_was_certainly_not_accepted(server: CliServer) -> None:
    api = api_of(server)
    remove_runtime(server.workspace, server.runtime().pid)
    server.join()
    with pytest.raises(ServerUnreachableError) as caught:
        accept(api, MESSAGE, SteppedClock().clock)
    assert not isinstance(caught.value, CommandError)


def test_ctrl_c_before_the_reply_names_the_id(server: CliServer) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    server.replies["POST", "/api/messages"] = BROKEN
    with pytest.raises(CommandError, match="--id cmd_1") as caught:
        accept(api_of(server), MESSAGE, SteppedClock(interrupt).clock)
    assert caught.value.exit_code is ExitCode.UNCERTAIN
