"""Declarations of the commands on memory and identity records (`memory.py`, `identity.py`)."""

from __future__ import annotations

from typing import Final

from groupx_tui.cli.options import CONFIG, JSON, ROOM, Argument, Command, Option

MEMORY: Final = Argument("record", "Record id, like mem_01…", metavar="RECORD")
IDENTITY: Final = Argument("record", "Record id, like identity_01…", metavar="RECORD")
TEXT: Final = Argument("text", "The text.", metavar="TEXT")
SOURCE: Final = Option(("--source",), "Event that says so.", metavar="EVENT")
KIND: Final = Option(("--kind", "-k"), "Only records of this kind.", metavar="KIND")
AUTHOR: Final = Option(
    ("--author",), "Only by this agent, or a full actor id like user:web.", metavar="ACTOR"
)
HISTORY: Final = Option(("--history",), "Corrected and retracted records too.", kind="flag")
STATUS: Final = Option(
    ("--status",),
    "Only records in this state.",
    kind="choice",
    choices=("active", "superseded", "retracted"),
)
LIMIT: Final = Option(
    ("--limit", "-n"),
    "How many.",
    kind="integer",
    default=100,
    minimum=1,
    maximum=500,
    metavar="N",
)
CURSOR: Final = Option(
    ("--cursor",), "Older ones: what the last page ended with.", metavar="CURSOR"
)
OUT: Final = (JSON, CONFIG)

MEMORY_COMMANDS: Final = (
    Command(
        ("memory", "list"),
        "memory:run_list",
        "What is remembered: a room's memory, an agent's, or all.",
        options=(
            ROOM,
            Option(("--agent",), "This agent's own memory.", metavar="AGENT", complete="agents"),
            Option(("--root",), "Only what is kept for this root alone.", metavar="ID"),
            Option(("--all", "-a"), "Of all rooms and agents.", kind="flag"),
            KIND,
            AUTHOR,
            Option(("--about",), "Only about this agent.", metavar="AGENT", complete="agents"),
            STATUS,
            Option(("--pinned",), "Only what goes with every turn.", kind="flag"),
            Option(("--dated",), "Only what days held, which agents wrote down.", kind="flag"),
            HISTORY,
            LIMIT,
            CURSOR,
            *OUT,
        ),
    ),
    Command(
        ("memory", "show"),
        "memory:run_show",
        "Show one record whole, with where it comes from.",
        arguments=(MEMORY,),
        options=OUT,
    ),
    Command(
        ("memory", "days"),
        "days:run",
        "Which days agents wrote down, and what waits of them.",
        options=(
            Option(("--room", "-r"), "Only in this room.", metavar="ROOM", complete="rooms"),
            Option(("--agent",), "Only of this agent.", metavar="AGENT", complete="agents"),
            LIMIT,
            *OUT,
        ),
    ),
    Command(
        ("memory", "history"),
        "memory:run_history",
        "All versions of a record, newest first.",
        arguments=(MEMORY,),
        options=OUT,
    ),
    Command(
        ("memory", "search"),
        "search:run_memory",
        "Find records by what they say.",
        arguments=(Argument("query", "Any text.", metavar="QUERY"),),
        options=(
            Option(("--room", "-r"), "Only this room's.", metavar="ROOM", complete="rooms"),
            Option(
                ("--actor",),
                "Only by or about this agent, or a full actor id.",
                metavar="ACTOR",
                complete="agents",
            ),
            LIMIT._replace(default=20),
            *OUT,
        ),
    ),
    Command(
        ("memory", "add"),
        "memory:run_add",
        "Remember something in a room, or as an agent's core memory.",
        arguments=(TEXT,),
        options=(
            ROOM,
            Option(
                ("--agent",), "As this agent's core memory.", metavar="AGENT", complete="agents"
            ),
            Option(
                ("--root",),
                "Only for what this message led to (correlation id).",
                metavar="ID",
            ),
            Option(
                ("--kind", "-k"),
                "fact, decision, preference, instruction, constraint or note.",
                default="fact",
                metavar="KIND",
            ),
            Option(("--about",), "The agent it is about.", metavar="AGENT", complete="agents"),
            SOURCE,
            Option(("--pin",), "Goes with every turn.", kind="flag"),
            *OUT,
        ),
    ),
    Command(
        ("memory", "correct"),
        "memory:run_correct",
        "Put a corrected text in the place of a record.",
        arguments=(MEMORY, TEXT),
        options=(SOURCE, *OUT),
    ),
    Command(
        ("memory", "retract"),
        "memory:run_retract",
        "Take a record back; it stays in the history.",
        arguments=(MEMORY,),
        options=OUT,
    ),
    Command(
        ("memory", "pin"),
        "memory:run_pin",
        "Let a record go with every turn.",
        arguments=(MEMORY,),
        options=OUT,
    ),
    Command(
        ("memory", "unpin"),
        "memory:run_unpin",
        "Let a record go along only when it fits.",
        arguments=(MEMORY,),
        options=OUT,
    ),
)

IDENTITY_COMMANDS: Final = (
    Command(
        ("identity", "list"),
        "identity:run_list",
        "What was said about who agents are here.",
        options=(
            Option(("--agent",), "About this agent.", metavar="AGENT", complete="agents"),
            KIND,
            AUTHOR,
            STATUS,
            HISTORY,
            LIMIT,
            CURSOR,
            *OUT,
        ),
    ),
    Command(
        ("identity", "show"),
        "identity:run_show",
        "Show one record whole, with where it comes from.",
        arguments=(IDENTITY,),
        options=OUT,
    ),
    Command(
        ("identity", "history"),
        "identity:run_history",
        "All versions of a record, newest first.",
        arguments=(IDENTITY,),
        options=OUT,
    ),
    Command(
        ("identity", "add"),
        "identity:run_add",
        "Say something about who an agent is here.",
        arguments=(
            Argument("agent", "The agent it is about.", metavar="AGENT", complete="agents"),
            TEXT,
        ),
        options=(
            Option(
                ("--kind", "-k"),
                "preference, instruction, constraint or note.",
                default="note",
                metavar="KIND",
            ),
            SOURCE,
            *OUT,
        ),
    ),
    Command(
        ("identity", "correct"),
        "identity:run_correct",
        "Put a corrected text in the place of a record.",
        arguments=(IDENTITY, TEXT),
        options=(SOURCE, *OUT),
    ),
    Command(
        ("identity", "retract"),
        "identity:run_retract",
        "Take a record back; it stays in the history.",
        arguments=(IDENTITY,),
        options=OUT,
    ),
)

REDACT: Final = Command(
    ("redact",),
    "redact:run",
    "Remove a text for good, with what came of it.",
    arguments=(
        Argument(
            "ref",
            "Id of an event, a record or a message to the room assistant (side_…).",
            metavar="EVENT|RECORD|MESSAGE",
        ),
    ),
    options=(
        Option(
            ("--purge",),
            "Get the bytes out of the database and its automatic backups too.",
            kind="flag",
        ),
        Option(("--copies",), "Remove what quotes it too, wherever that is.", kind="flag"),
        Option(
            ("--plain",), "Tell how a purge stands in lines, not in one that changes.", kind="flag"
        ),
        *OUT,
    ),
)
