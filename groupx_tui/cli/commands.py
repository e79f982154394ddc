"""The table of all commands: the only place where a command, an argument or an option is declared.

docs/CLI.md is checked against it. The first words are unique; a group (`rooms`) has no action of
its own.
"""

from __future__ import annotations

from typing import Final

from groupx_tui.cli.agentcommands import AGENT_COMMANDS
from groupx_tui.cli.assistantcommands import ASSISTANT_COMMANDS, ROOT_COMMANDS
from groupx_tui.cli.contextcommands import CONTEXT_COMMANDS
from groupx_tui.cli.filecommands import FILE_COMMANDS
from groupx_tui.cli.memorycommands import IDENTITY_COMMANDS, MEMORY_COMMANDS, REDACT
from groupx_tui.cli.options import ANY_ROOM, CONFIG, JSON, ROOM, Argument, Command, Option
from groupx_tui.cli.turncommands import TIMEOUT, TURN_COMMANDS, WAIT

ALL_TYPES: Final = Option(
    ("--all-types",),
    "Show every kind of event, not only messages, turns that did not complete, and rooms.",
    kind="flag",
)
ROOM_ARGUMENT: Final = Argument("room", "Room id.", metavar="ROOM", complete="rooms")

OPEN_ROOM: Final = Option(("--room", "-r"), "Room to open.", metavar="ROOM", complete="rooms")
PLAIN: Final = Option(
    ("--plain",),
    "Line by line, without a full screen: for screen readers, dumb terminals and pipes. By itself "
    "when TERM is dumb.",
    kind="flag",
)
CONNECT: Final = Option(
    ("--connect",),
    "Open the room of a server elsewhere, at a forwarded port like http://127.0.0.1:40123. "
    "Needs --token-file.",
    metavar="URL",
)
TOKEN_FILE: Final = Option(
    ("--token-file",),
    "With --connect: a private file with the server's token, or its runtime file, copied.",
    metavar="FILE",
)
VERSION: Final = Option(("--version", "-V"), "Print the version and exit.", kind="flag")
ROOT: Final = Command(
    (),
    "terminal:run",
    "One terminal room for all your AI agents. Without a command: open the room.",
    options=(CONFIG, OPEN_ROOM, PLAIN, CONNECT, TOKEN_FILE, VERSION),
)

COMMANDS: Final = (
    Command(
        ("send",),
        "send:run",
        "Send a message and, with --wait, print the answers.",
        arguments=(
            Argument(
                "text",
                "The message; “-” or nothing reads it from stdin.",
                required=False,
                metavar="TEXT|-",
            ),
        ),
        options=(
            Option(
                ("--to", "-t"),
                "Agent to wake; “a,b” or given again for more. Default: the default agent.",
                many=True,
                metavar="AGENT",
                complete="agents",
            ),
            Option(("--all", "-a"), "Wake every enabled agent.", kind="flag"),
            ROOM,
            Option(("--reply-to",), "Event that this message answers.", metavar="EVENT"),
            Option(
                ("--observer",),
                "Agent that watches those who work; may be given again.",
                many=True,
                metavar="AGENT",
                complete="agents",
            ),
            Option(
                ("--brief",), "With --observer: what to look out for, in words.", metavar="TEXT"
            ),
            WAIT,
            TIMEOUT,
            Option(
                ("--id",),
                "Your own id for this message: sent again, nothing is done twice.",
                metavar="CLIENT_COMMAND_ID",
            ),
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("tail",),
        "tail:run",
        "Follow what happens, live, until Ctrl+C.",
        options=(
            ANY_ROOM,
            Option(
                ("--since",),
                "Start after this event number; 0 is the very beginning. Default: now.",
                kind="integer",
                minimum=0,
                metavar="SEQ",
            ),
            ALL_TYPES,
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("history",),
        "history:run",
        "Print the newest part of a room, oldest first.",
        options=(
            ROOM,
            Option(
                ("--limit", "-n"),
                "How many events.",
                kind="integer",
                default=50,
                minimum=1,
                maximum=100_000,
                metavar="N",
            ),
            Option(
                ("--before",),
                "Only events before this number.",
                kind="integer",
                minimum=1,
                metavar="SEQ",
            ),
            ALL_TYPES,
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("search",),
        "search:run",
        "Find messages, memory and identity, the best first.",
        arguments=(
            Argument(
                "query",
                'Words, "a phrase", +must, -not, pre*; any text will do.',
                required=False,
                metavar="QUERY",
            ),
        ),
        options=(
            ANY_ROOM,
            Option(
                ("--kind",),
                "Only this kind.",
                kind="choice",
                default="all",
                choices=("all", "message", "memory", "identity"),
            ),
            Option(
                ("--actor",),
                "Only by or about this agent, or a full actor id like user:web.",
                metavar="ACTOR",
                complete="agents",
            ),
            Option(
                ("--type",), "Only of this event type, or records of this kind.", metavar="TYPE"
            ),
            Option(("--root",), "Only what one message led to (correlation id).", metavar="ID"),
            Option(("--since",), "From this day or time on, like 2026-01-31.", metavar="TIME"),
            Option(("--until",), "Up to this day or time.", metavar="TIME"),
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
                ("--cursor",),
                "Go on where a page ended, with its nextCursor.",
                metavar="CURSOR",
            ),
            Option(
                ("--rebuild",),
                "Build the index anew from the ledger, instead of asking it.",
                kind="flag",
            ),
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("export",),
        "export:run",
        "Write everything durable, whole and in order.",
        options=(
            ANY_ROOM,
            Option(
                ("--format", "-f"),
                "jsonl: every event; md: to read.",
                kind="choice",
                default="jsonl",
                choices=("jsonl", "md"),
            ),
            Option(("--output", "-o"), "File to write. Default: stdout.", metavar="FILE"),
            Option(("--force",), "Replace the file if there is one.", kind="flag"),
            CONFIG,
        ),
    ),
    *FILE_COMMANDS,
    Command(
        ("rooms", "list"),
        "rooms:run_list",
        "List the rooms.",
        options=(Option(("--all", "-a"), "Archived ones too.", kind="flag"), JSON, CONFIG),
    ),
    Command(
        ("rooms", "create"),
        "rooms:run_create",
        "Make a room.",
        arguments=(Argument("title", "Its title.", metavar="TITLE"),),
        options=(
            Option(("--id",), "Its id. Default: made from the title.", metavar="ROOM"),
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("rooms", "rename"),
        "rooms:run_rename",
        "Give a room another title.",
        arguments=(ROOM_ARGUMENT, Argument("title", "The new title.", metavar="TITLE")),
        options=(JSON, CONFIG),
    ),
    Command(
        ("rooms", "archive"),
        "rooms:run_archive",
        "Put a room away; nothing is deleted.",
        arguments=(ROOM_ARGUMENT,),
        options=(JSON, CONFIG),
    ),
    Command(
        ("rooms", "restore"),
        "rooms:run_restore",
        "Bring an archived room back.",
        arguments=(ROOM_ARGUMENT,),
        options=(JSON, CONFIG),
    ),
    *AGENT_COMMANDS,
    *TURN_COMMANDS,
    *ROOT_COMMANDS,
    *ASSISTANT_COMMANDS,
    *MEMORY_COMMANDS,
    *IDENTITY_COMMANDS,
    *CONTEXT_COMMANDS,
    REDACT,
    Command(
        ("status",),
        "status:run",
        "What runs: the server, rooms, agents, open turns.",
        options=(JSON, CONFIG),
    ),
    Command(
        ("serve",),
        "server:run_serve",
        "Run the server here, in the foreground.",
        options=(CONFIG,),
    ),
    Command(
        ("start",),
        "server:run_start",
        "Start the server in the background.",
        options=(CONFIG,),
    ),
    Command(
        ("stop",),
        "server:run_stop",
        "Stop the server of this workspace.",
        options=(CONFIG,),
    ),
    Command(
        ("connect",),
        "sshconnect:run",
        "Open the room of a server on another machine, through ssh.",
        arguments=(
            Argument("address", "Like ssh://me@box or ssh://box/home/me/project.", metavar="SSH"),
        ),
        options=(OPEN_ROOM,),
    ),
    Command(
        ("web",),
        "web:run",
        "Open the room in a browser on this machine, by a link that is printed.",
        options=(
            OPEN_ROOM,
            Option(
                ("--port",),
                "Port on 127.0.0.1. Default: a free one.",
                kind="integer",
                minimum=1,
                maximum=65_535,
                metavar="PORT",
            ),
            CONFIG,
        ),
    ),
    Command(
        ("restart",),
        "server:run_restart",
        "Stop the server and start it.",
        options=(CONFIG,),
    ),
    Command(
        ("reload",),
        "reload:run",
        "Have the running server take a changed config over.",
        options=(JSON, CONFIG),
    ),
    Command(
        ("config", "list"),
        "config:run_list",
        "The plain settings with their values: limits, timeouts, backups.",
        options=(JSON, CONFIG),
    ),
    Command(
        ("config", "set"),
        "config:run_set",
        "Change one plain setting.",
        arguments=(
            Argument(
                "setting",
                "Like limits.queuePerAgent=32; KEY= takes the default.",
                metavar="KEY=VALUE",
            ),
        ),
        options=(JSON, CONFIG),
    ),
    Command(
        ("logs",),
        "logs:run",
        "Print the end of the server's log.",
        options=(
            Option(
                ("--lines", "-n"),
                "How many lines.",
                kind="integer",
                default=50,
                minimum=0,
                maximum=1_000_000,
                metavar="N",
            ),
            Option(("--follow", "-f"), "Go on until Ctrl+C.", kind="flag"),
            Option(("--json",), "The lines as they are in the file.", kind="flag"),
            CONFIG,
        ),
    ),
    Command(
        ("init",),
        "init:run",
        "Make a workspace of a folder: write its groupx.json.",
        arguments=(
            Argument("path", "Folder. Default: the current one.", required=False, metavar="PATH"),
        ),
    ),
    Command(
        ("reset-terminal",),
        "resetterminal:run",
        "Put this terminal right after a window in it was killed.",
    ),
    Command(
        ("doctor",),
        "doctor:run",
        "Check this machine, the workspace, its agents and the server.",
        options=(
            Option(
                ("--agent",),
                "Only this agent, wholly: one tiny turn in a scratch room.",
                metavar="AGENT",
                complete="any_agent",
            ),
            Option(
                ("--quick",),
                "Do not start any agent, and do not read the whole database.",
                kind="flag",
            ),
            JSON,
            CONFIG,
        ),
    ),
)

GROUPS: Final = {
    "rooms": "Rooms: list, create, rename, archive, restore.",
    "agents": "Agents: list, add, remove, enable, disable, set, test, restart.",
    "memory": "Memory: list, show, days, history, search, add, correct, retract, pin …",
    "identity": "Who agents are: list, show, history, add, correct, retract.",
    "config": "Limits, timeouts, backups: list, set.",
    "context": "What agents are told: usage, preview, summary, compact, reset.",
    "turns": "Turns: list, show, cancel, advise, retry, continue.",
    "roots": "What a message led to: list, show, continue, cancel.",
    "assistant": "The room assistant: ask, history, cancel, clear, status, use.",
}
