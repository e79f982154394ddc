"""`groupx turns retry` and `continue`: an ended turn taken up again, as a new turn."""

from __future__ import annotations

from groupx_tui.cli.clock import Clock, Deadline
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.send import finish, refuse_timeout_without_wait
from groupx_tui.cli.session import connect


def run_retry(call: Invocation) -> int:
    """Send the turn's message once more."""
    return _run(call, "retry")


def run_continue(call: Invocation) -> int:
    """Ask the agent to go on where it stopped."""
    return _run(call, "continue")


def _run(call: Invocation, how: str) -> int:
    refuse_timeout_without_wait(call)
    clock = Clock()
    deadline = Deadline(clock, call.number("timeout"))
    api = connect(call)
    accepted = api.take_up_again(call.required("turn"), how)
    return finish(api, call, accepted, clock, deadline)
