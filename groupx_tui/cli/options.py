"""How a command is declared: its words, arguments and options.

`commands` holds the declarations; `fastparse` and `surface` each render them into a parser, and a
test proves that both read every command line alike. Named tuples, here and in what else every
command loads: dataclasses would double the time of a start.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

Kind = Literal["text", "integer", "number", "flag", "choice"]
Completion = Literal["agents", "rooms", "config", "drivers", "any_agent"]


class Option(NamedTuple):
    """One option. `flags[0]` is the long form; the value is called by it (`--reply-to` ->
    `reply_to`). `minimum` and `maximum` bound integers and numbers, both included."""

    flags: tuple[str, ...]
    help: str
    kind: Kind = "text"
    default: str | int | float | None = None
    many: bool = False
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    metavar: str | None = None
    complete: Completion | None = None

    @property
    def name(self) -> str:
        """Key of the value."""
        return self.flags[0].lstrip("-").replace("-", "_")

    @property
    def start_value(self) -> Any:
        """Value when the option is not given: a new list, False, or the default."""
        if self.many:
            return []
        return False if self.kind == "flag" else self.default


class Argument(NamedTuple):
    """One positional argument."""

    name: str
    help: str
    required: bool = True
    metavar: str | None = None
    complete: Completion | None = None


class Command(NamedTuple):
    """One command: the words that name it, what it takes, and `handler`, a `module:function` in
    this package that is imported only when the command runs."""

    words: tuple[str, ...]
    handler: str
    help: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()

    @property
    def name(self) -> str:
        """Like `rooms list`."""
        return " ".join(self.words)


class Invocation(NamedTuple):
    """A command line that was read: which command, and the value of everything it declares."""

    command: Command
    values: dict[str, Any]

    def text(self, name: str) -> str | None:
        """Value of a text or choice; None when it was not given and has no default."""
        value = self.values[name]
        return None if value is None else str(value)

    def required(self, name: str) -> str:
        """Value of a required argument, or of an option with a default."""
        return str(self.values[name])

    def texts(self, name: str) -> list[str]:
        """Values of an option that may be given many times."""
        return [str(value) for value in self.values[name]]

    def names(self, name: str) -> list[str]:
        """The same where values are names: `a,b` counts as two, since no name has a comma."""
        parts = (part.strip() for value in self.texts(name) for part in value.split(","))
        return [part for part in parts if part]

    def flag(self, name: str) -> bool:
        """Whether a flag was given."""
        return bool(self.values[name])

    def integer(self, name: str) -> int | None:
        """Value of an integer."""
        value = self.values[name]
        return None if value is None else int(value)

    def number(self, name: str) -> float | None:
        """Value of a number."""
        value = self.values[name]
        return None if value is None else float(value)


CONFIG: Final = Option(
    ("--config",),
    "Config file, or a folder that holds groupx.json. Default: found upward from the current "
    "folder, else the default workspace.",
    metavar="PATH",
)
JSON: Final = Option(("--json",), "Print JSON, documented and stable.", kind="flag")
"""Two that nearly every command has."""
ROOM: Final = Option(
    ("--room", "-r"),
    "Room id, with or without “room:”.",
    default="room:main",
    metavar="ROOM",
    complete="rooms",
)
ANY_ROOM: Final = Option(
    ("--room", "-r"), "Only this room. Default: all.", metavar="ROOM", complete="rooms"
)
