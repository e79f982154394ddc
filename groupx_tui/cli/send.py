"""`groupx send`: one message to a room, and with --wait the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groupx_shared.ids import new_id
from groupx_shared.text import safe_line
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.accept import accept
from groupx_tui.cli.api import Api, room_id, short
from groupx_tui.cli.clock import Clock, Deadline
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect
from groupx_tui.cli.textinput import message_text

if TYPE_CHECKING:
    from groupx_tui.cli.answers import Answers


EVERYBODY = ("@all", "all")
"""What `--to` takes for every enabled agent, as the composer does."""


def run(call: Invocation) -> int:
    """Send, and wait if asked to."""
    _refuse_contradictions(call)
    content = message_text(call.text("text"))
    clock = Clock()
    deadline = Deadline(clock, call.number("timeout"))
    api = connect(call)
    message: dict[str, Any] = {
        "clientCommandId": call.text("id") or new_id("cmd"),
        "roomId": room_id(call.required("room")),
        "to": targets(api, call),
        "content": content,
    }
    if (reply_to := call.text("reply_to")) is not None:
        message["replyToEventId"] = reply_to
    if observers := call.names("observer"):
        brief = {} if call.text("brief") is None else {"brief": call.text("brief")}
        names = list(dict.fromkeys(name.removeprefix("@") for name in observers))
        message["supervision"] = {"observers": names, **brief}
    return finish(api, call, accept(api, message, clock), clock, deadline)


def finish(
    api: Api, call: Invocation, accepted: dict[str, Any], clock: Clock, deadline: Deadline
) -> int:
    """Wait for the answers with --wait, else print the ids of what was accepted."""
    _say_what_stands_in_the_way(accepted)
    if call.flag("wait"):
        return _wait(api, call, accepted, clock, deadline)
    _print_accepted(accepted, as_json=call.flag("json"))
    return ExitCode.DONE


def refuse_timeout_without_wait(call: Invocation) -> None:
    """Raises: CommandError (usage)."""
    if call.number("timeout") is not None and not call.flag("wait"):
        raise CommandError("--timeout belongs to --wait.", ExitCode.USAGE)


def _refuse_contradictions(call: Invocation) -> None:
    if call.flag("all") and call.names("to"):
        raise CommandError("Give --all or --to, not both.", ExitCode.USAGE)
    refuse_timeout_without_wait(call)
    if call.text("brief") is not None and not call.names("observer"):
        raise CommandError("--brief belongs to --observer.", ExitCode.USAGE)
    if (own_id := call.text("id")) is not None and not 0 < len(own_id.strip()) <= 128:
        raise CommandError("--id takes 1 to 128 characters.", ExitCode.USAGE)


def targets(api: Api, call: Invocation) -> list[str]:
    """The agents to wake; the server words what is wrong with a name."""
    named = call.names("to")
    if named and not any(name.lower() in EVERYBODY for name in named):
        return list(dict.fromkeys(name.removeprefix("@") for name in named))
    enabled = [card for card in api.agents() if card.get("enabled")]
    if not call.flag("all") and not named:
        enabled = [card for card in enabled if card.get("isDefault")][:1]
    if not enabled:
        raise CommandError(
            "There is no enabled agent to send to. Switch one on with “groupx agents enable "
            "AGENT”, or name one with --to.",
            ExitCode.REFUSED,
        )
    return [str(card["actorId"]) for card in enabled]


def _say_what_stands_in_the_way(accepted: dict[str, Any]) -> None:
    for turn in accepted["turns"]:
        agent = short(turn["target"])
        if turn.get("queuePosition"):
            diagnostics.say(f"{agent} is busy; {turn['queuePosition']} before us.")
        if obstacle := turn.get("obstacle"):
            diagnostics.say(f"{agent} tries again, but: {safe_line(str(obstacle), 500)}")


def _wait(
    api: Api, call: Invocation, accepted: dict[str, Any], clock: Clock, deadline: Deadline
) -> int:
    from groupx_tui.cli.wait import Waiter

    as_json = call.flag("json")
    waiter = Waiter(api, accepted, clock, None if as_json else output.write)
    code = waiter.wait(deadline)
    if as_json:
        output.json_line(_result(accepted, waiter.answers))
    return code


def _print_accepted(accepted: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        from groupx_tui.cli.answers import Answers

        output.json_line(_result(accepted, Answers(accepted["turns"])))
        return
    output.line(f"message\t{safe_line(accepted['messageEventId'])}")
    for turn in accepted["turns"]:
        output.line(f"turn\t{safe_line(turn['turnId'])}\t{short(turn['target'])}")


def _result(accepted: dict[str, Any], answers: Answers) -> dict[str, Any]:
    """The object that --json prints; its keys are part of the stable interface."""
    return {
        "roomId": accepted["roomId"],
        "messageEventId": accepted["messageEventId"],
        "correlationId": accepted["correlationId"],
        "turns": [answer.to_json() for answer in answers.by_id.values()],
    }
