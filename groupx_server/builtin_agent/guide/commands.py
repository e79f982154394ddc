"""The guide's commands: names, what they take, one line of help. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Command:
    """One slash command. `plan` says, for the reasoning record, what it will look at."""

    name: str
    argument: str
    summary: str
    plan: str
    aliases: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """`/find WORDS`."""
        return f"/{self.name} {self.argument}".strip()


COMMANDS: Final = (
    Command(
        "help",
        "",
        "what I can do",
        "This needs no look at the room.",
        ("?", "commands"),
    ),
    Command(
        "find",
        "WORDS",
        'find messages that hold all the words; `"a phrase"`, `before:SEQ` to go on further back',
        "I will page back through the room's messages, newest first.",
        ("search", "grep"),
    ),
    Command(
        "last",
        "[N]",
        "the newest N messages (10, at most 50)",
        "I will read the room's newest messages.",
        ("history", "recent", "tail"),
    ),
    Command(
        "summary",
        "",
        "counts and quotes from the room: who spoke, when, first and last lines, open turns",
        "I will read the room's messages and open turns, and count and quote.",
        ("recap",),
    ),
    Command(
        "agents",
        "",
        "who is here, in which state, and how to add one",
        "I will ask the server for the agents and their state.",
        ("who", "members"),
    ),
    Command("rooms", "", "all rooms of this workspace", "I will ask the server for the rooms."),
    Command(
        "memory",
        "",
        "what is remembered for this room",
        "I will ask the server for the room's memory.",
    ),
    Command(
        "setup",
        "",
        "how to connect a local model or another agent",
        "I will look which model servers answer on this machine.",
        ("connect", "install"),
    ),
    Command(
        "status",
        "",
        "what I am connected to",
        "I will look for a model and ask the server for an answer.",
        ("version",),
    ),
)

BY_NAME: Final = {
    name: command for command in COMMANDS for name in (command.name, *command.aliases)
}


def available_commands() -> list[dict[str, Any]]:
    """The commands in ACP's form (`available_commands_update`)."""
    return [
        {"name": command.name, "description": command.summary}
        | ({"input": {"hint": command.argument}} if command.argument else {})
        for command in COMMANDS
    ]
