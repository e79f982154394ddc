"""Commands that look after the workspace: use, doctor, backups, log, about; shown in the window.

Invariant: what is shown is what the command printed, word for word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual.content import Content

from groupx_tui.handlers.results import Results
from groupx_tui.screens.ask import Ask
from groupx_tui.screens.chooser import Choice, Chooser
from groupx_tui.screens.reader import Reader
from groupx_tui.widgets.facts import Fact

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp

LOG_LINES: Final = "300"
MAX_PATH_CHARS: Final = 4_096


class ToolHandlers:
    """`tool.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._results = Results[str](app)

    def usage(self, argument: str) -> None:
        """What the agents' turns have used."""
        self._run("Tokens and cost", "/usage", ("usage",))

    def doctor(self, argument: str) -> None:
        """What is wrong, and what to do."""
        self._run("Doctor", "/doctor", ("doctor",))

    def backups(self, argument: str) -> None:
        """The backups there are."""
        self._run("Backups", "/backups", ("restore",))

    def backup(self, argument: str) -> None:
        """Make one now."""

        def named(path: str | None) -> None:
            if path:
                self._run("Backup", f"/backup {path}", ("backup", path))

        if argument:
            named(argument)
            return
        default = str(Path.cwd() / f"groupx-{datetime.now().astimezone():%Y-%m-%d}.db")
        ask = Ask(
            self._app.keymap, "Back up to which file?", default, max_length=MAX_PATH_CHARS,
            empty="Write the name of a file.",
        )  # fmt: skip
        self._app.push_screen(ask, named)

    def export(self, argument: str) -> None:
        """Write this room to `FILE` (`.jsonl`: every event), else ask what and where."""
        if argument:
            kind = "jsonl" if argument.endswith(".jsonl") else "md"
            self._export(kind, argument, is_all=False)
            return
        choices = [
            Choice("md", "This room, to read", "Markdown with all messages and answers"),
            Choice("jsonl", "This room, every event", "one JSON object a line"),
            Choice("all", "All rooms, every event", "one JSON object a line"),
        ]

        def chosen(what: str | None) -> None:
            if what is not None:
                self._ask_export(what)

        self._app.push_screen(Chooser(self._app.keymap, "Export", choices), chosen)

    def _ask_export(self, what: str) -> None:
        kind = "md" if what == "md" else "jsonl"
        room = self._app.view.room_id.removeprefix("room:")
        name = f"{'groupx' if what == 'all' else room}.{kind}"

        def named(path: str | None) -> None:
            if path:
                self._export(kind, path, is_all=what == "all")

        ask = Ask(
            self._app.keymap, "To which file?", str(Path.cwd() / name), max_length=MAX_PATH_CHARS,
            empty="Write the name of a file.",
        )  # fmt: skip
        self._app.push_screen(ask, named)

    def _export(self, kind: str, path: str, *, is_all: bool) -> None:
        target = str(Path(path).expanduser().absolute())
        room = () if is_all else ("--room", self._app.view.room_id)
        words = ("export", *room, "--format", kind, "-o", target)

        def done(printed: str) -> None:
            self._app.tell(printed.strip() or f"Written to {target}.")

        self._app.attempt(self._app.command_line.run(words), done)

    def logs(self, argument: str) -> None:
        """The end of the server's log."""
        self._run("Log", "/logs", ("logs", "-n", LOG_LINES), is_end=True)

    def about(self, argument: str) -> None:
        """Versions, places, how the server is."""
        self._run("About GroupX", "/about", ("status",))

    def test_agent(self, handle: str) -> None:
        """Start an agent as a trial and say what is wrong."""
        self._app.tell("It is started as a trial; that takes some seconds.")
        self._run(
            f"Doctor: {handle}", f"the same key on the card of {handle}", ("agents", "test", handle)
        )

    def _run(self, title: str, how: str, words: Sequence[str], *, is_end: bool = False) -> None:
        def show(printed: str) -> None:
            self._app.push_screen(text_screen(self._app, title, printed, is_end=is_end))

        self._results.fetch(title, how, lambda: self._app.command_line.run(words), show)


def text_screen(
    app: GroupXApp,
    title: str,
    text: str,
    *,
    is_end: bool = False,
    offers: Mapping[str, Callable[[], object]] | None = None,
) -> Reader:
    """A text as it is, line by line; its copy key copies all of it."""
    lines = text.rstrip("\n").split("\n")
    facts = [Fact(Content(""), Content(line)) for line in lines]
    return Reader(
        app.keymap, title, facts, 0, (text, "the text"), offers, is_wide=True, starts_at_end=is_end
    )
