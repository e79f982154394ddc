"""The commands about the room assistant and about roots, as part of the table in `commands`."""

from __future__ import annotations

from typing import Final

from groupx_tui.cli.options import ANY_ROOM, CONFIG, JSON, Argument, Command, Option

ROOM: Final = Option(
    ("--room", "-r"),
    "The room that is meant when none is named.",
    default="room:main",
    metavar="ROOM",
    complete="rooms",
)
LIMIT: Final = Option(
    ("--limit", "-n"),
    "How many.",
    kind="integer",
    default=20,
    minimum=1,
    maximum=100,
    metavar="N",
)
ROOT_ARGUMENT: Final = Argument(
    "root", "Correlation id, or the id of an event or turn of it.", metavar="ROOT"
)

ASSISTANT_COMMANDS: Final = (
    Command(
        ("assistant", "ask"),
        "assistant:run_ask",
        "Ask the room assistant and print its answer as it comes.",
        arguments=(
            Argument(
                "text",
                "The request; “-” or nothing reads it from stdin.",
                required=False,
                metavar="TEXT|-",
            ),
        ),
        options=(
            ROOM,
            Option(
                ("--timeout",),
                "Stop waiting after this many seconds (it goes on).",
                kind="number",
                minimum=0,
                maximum=604_800,
                metavar="SECONDS",
            ),
            Option(
                ("--id",),
                "Your own id for this request: sent again, nothing is done twice.",
                metavar="CLIENT_COMMAND_ID",
            ),
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("assistant", "history"),
        "assistant:run_history",
        "Print the conversation with it, and what it did.",
        options=(
            LIMIT,
            Option(("--before",), "Only what is before this message.", metavar="MESSAGE"),
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("assistant", "cancel"),
        "assistant:run_cancel",
        "Cancel a request: the one being answered, or the named one.",
        arguments=(Argument("request", "Request id.", required=False, metavar="REQUEST"),),
        options=(JSON, CONFIG),
    ),
    Command(
        ("assistant", "clear"),
        "assistant:run_clear",
        "Forget the conversation; what it did stays in the rooms.",
        options=(JSON, CONFIG),
    ),
    Command(
        ("assistant", "status"),
        "assistant:run_status",
        "Whether there is one, and how it is.",
        options=(JSON, CONFIG),
    ),
    Command(
        ("assistant", "use"),
        "assistantsetup:run_use",
        "Choose its program, or switch it off.",
        arguments=(
            Argument(
                "driver",
                "A known program (codex, claude, gemini …), acp with --command, or builtin.",
                required=False,
                metavar="DRIVER",
                complete="drivers",
            ),
        ),
        options=(
            Option(("--command",), "What to start; default: the driver's own.", metavar="TEXT"),
            Option(("--cwd",), "Its working folder.", metavar="FOLDER"),
            Option(("--name",), "Its display name.", metavar="TEXT"),
            Option(("--off",), "Switch it off.", kind="flag"),
            JSON,
            CONFIG,
        ),
    ),
)

ROOT_COMMANDS: Final = (
    Command(
        ("roots", "list"),
        "roots:run_list",
        "List what messages led to, newest first.",
        options=(
            ANY_ROOM,
            Option(
                ("--status",),
                "Which roots.",
                kind="choice",
                default="all",
                choices=("open", "all"),
            ),
            LIMIT,
            Option(
                ("--before",),
                "Older roots: the number that the last list ended with.",
                kind="integer",
                minimum=1,
                metavar="N",
            ),
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("roots", "show"),
        "roots:run_show",
        "Show one root: who asked whom, how far each is, what it cost.",
        arguments=(ROOT_ARGUMENT,),
        options=(JSON, CONFIG),
    ),
    Command(
        ("roots", "continue"),
        "roots:run_continue",
        "Let agents go on that a limit has stopped.",
        arguments=(ROOT_ARGUMENT,),
        options=(JSON, CONFIG),
    ),
    Command(
        ("roots", "cancel"),
        "roots:run_cancel",
        "Cancel every turn of a root that waits or runs.",
        arguments=(ROOT_ARGUMENT,),
        options=(JSON, CONFIG),
    ),
    Command(
        ("usage",),
        "usage:run",
        "What turns cost, as far as agents tell.",
        options=(
            Option(
                ("--by",),
                "One line for each of these.",
                kind="choice",
                default="agent",
                choices=("agent", "room", "root"),
            ),
            ANY_ROOM,
            Option(("--root",), "Only this root.", metavar="ROOT"),
            Option(("--agent",), "Only this agent.", metavar="AGENT", complete="agents"),
            LIMIT,
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("forward",),
        "forward:run",
        "Pass a message on, with its author, to agents or into another room.",
        arguments=(
            Argument("event", "The message's event id.", metavar="EVENT"),
            Argument("text", "A note to go above it.", required=False, metavar="TEXT|-"),
        ),
        options=(
            Option(
                ("--to", "-t"),
                "Agent to wake; may be given again. Default: nobody.",
                many=True,
                metavar="AGENT",
                complete="agents",
            ),
            Option(("--all", "-a"), "Wake every enabled agent.", kind="flag"),
            Option(
                ("--room", "-r"),
                "Into this room. Default: the message's own.",
                metavar="ROOM",
                complete="rooms",
            ),
            Option(("--wait", "-w"), "Wait for the answers and print them.", kind="flag"),
            Option(
                ("--timeout",),
                "With --wait: give up after this many seconds (the turn goes on).",
                kind="number",
                minimum=0,
                maximum=604_800,
                metavar="SECONDS",
            ),
            Option(
                ("--id",),
                "Your own id for this message: sent again, nothing is done twice.",
                metavar="CLIENT_COMMAND_ID",
            ),
            JSON,
            CONFIG,
        ),
    ),
)
