"""Declarations of the commands on what agents are told (`context.py`)."""

from __future__ import annotations

from typing import Final

from groupx_tui.cli.options import CONFIG, JSON, ROOM, Command, Option

CONTEXT_COMMANDS: Final = (
    Command(
        ("context", "usage"),
        "context:run_usage",
        "How full an agent's packet of the room would be.",
        options=(ROOM, JSON, CONFIG),
    ),
    Command(
        ("context", "preview"),
        "context:run_preview",
        "What an agent would be sent now, and what would be left out.",
        options=(
            ROOM,
            Option(
                ("--to", "-t"),
                "The agent. Default: the default agent.",
                metavar="AGENT",
                complete="agents",
            ),
            Option(
                ("--session",),
                "As if its native session was new, or went on.",
                kind="choice",
                choices=("new", "continued"),
            ),
            Option(("--text",), "The message that you would send.", metavar="TEXT"),
            Option(("--reply-to",), "The event that it would answer.", metavar="EVENT"),
            Option(("--whole", "-w"), "Print the whole packet.", kind="flag"),
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("context", "summary"),
        "context:run_summary",
        "The summary that stands for the room's older messages.",
        options=(ROOM, JSON, CONFIG),
    ),
    Command(
        ("context", "compact"),
        "context:run_compact",
        "Have the room's older messages summed up; none is deleted.",
        options=(
            ROOM,
            Option(
                ("--keep", "-k"),
                "So many of the newest messages stay as they are.",
                kind="integer",
                default=12,
                minimum=0,
                maximum=1_000,
                metavar="N",
            ),
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("context", "reset"),
        "context:run_reset",
        "Tell agents nothing any more of what was said until now.",
        options=(
            ROOM,
            Option(
                ("--keep-sessions",),
                "Agents go on in the native sessions that they have.",
                kind="flag",
            ),
            JSON,
            CONFIG,
        ),
    ),
)
