"""The commands of `groupx turns`, and the options for waiting that `send` has too."""

from __future__ import annotations

from typing import Final

from groupx_tui.cli.options import ANY_ROOM, CONFIG, JSON, Argument, Command, Option

WAIT: Final = Option(("--wait", "-w"), "Wait for the answers and print them.", kind="flag")
TIMEOUT: Final = Option(
    ("--timeout",),
    "With --wait: give up after this many seconds (the turn goes on).",
    kind="number",
    minimum=0,
    maximum=604_800,
    metavar="SECONDS",
)
TURN_ARGUMENT: Final = Argument("turn", "Turn id, like turn_01…", metavar="TURN")

TURN_COMMANDS: Final = (
    Command(
        ("turns", "list"),
        "turns:run_list",
        "List turns, newest first.",
        options=(
            ANY_ROOM,
            Option(
                ("--status",),
                "Which turns.",
                kind="choice",
                default="all",
                choices=("open", "ended", "all"),
            ),
            Option(
                ("--limit", "-n"),
                "How many.",
                kind="integer",
                default=20,
                minimum=1,
                maximum=500,
                metavar="N",
            ),
            Option(
                ("--before",),
                "Older turns: the number that the last list ended with.",
                kind="integer",
                minimum=1,
                metavar="N",
            ),
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("turns", "show"),
        "turns:run_show",
        "Show one turn and its answer.",
        arguments=(TURN_ARGUMENT,),
        options=(JSON, CONFIG),
    ),
    Command(
        ("turns", "cancel"),
        "turns:run_cancel",
        "Cancel a turn that waits or runs.",
        arguments=(TURN_ARGUMENT,),
        options=(JSON, CONFIG),
    ),
    Command(
        ("turns", "advise"),
        "turns:run_advise",
        "Say something to the agent of a turn: while it works, if it can take it.",
        arguments=(
            TURN_ARGUMENT,
            Argument(
                "text",
                "What to say; “-” or nothing reads it from stdin.",
                required=False,
                metavar="TEXT|-",
            ),
        ),
        options=(JSON, CONFIG),
    ),
    Command(
        ("turns", "retry"),
        "again:run_retry",
        "Send an ended turn's message once more, as a new turn.",
        arguments=(TURN_ARGUMENT,),
        options=(WAIT, TIMEOUT, JSON, CONFIG),
    ),
    Command(
        ("turns", "continue"),
        "again:run_continue",
        "Ask the agent to go on with a turn that did not complete.",
        arguments=(TURN_ARGUMENT,),
        options=(WAIT, TIMEOUT, JSON, CONFIG),
    ),
)
