"""Settings: agents, limits, the settings file, keys, colours, attention.

Invariants: the config file is written only by the commands that check it, or by the person's own
editor; what is wrong in a file is said at once, and what was in force stays in force.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual.app import SuspendNotSupported

from groupx_shared.errors import ConfigError, GroupXError
from groupx_shared.text import safe_line
from groupx_tui.handlers.keys import KeySetup
from groupx_tui.handlers.limits import ELSEWHERE, LimitHandlers, config_at
from groupx_tui.handlers.tool import text_screen
from groupx_tui.screens.chooser import Choice, Chooser, Use
from groupx_tui.screens.confirm import Confirm
from groupx_tui.screens.write import Write
from groupx_tui.state.model import ClientView

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp

IDENTITY_ABOUT: Final = (
    "It goes with every turn, before all that the room says. What people and agents say of it "
    "later stands in memory."
)
NO_AGENTS: Final = "No such agent. Those that are here show once the room is connected."
STATES: Final = {"found": "is installed", "absent": "is not installed"}


class SetupHandlers:
    """`setup.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._list: Chooser | None = None
        self._keys = KeySetup(app, self._edit_file)
        self._limits = LimitHandlers(app)

    def open(self, argument: str) -> None:
        """What can be set."""
        places: dict[str, tuple[str, str, Callable[[], object]]] = {
            "agents": (
                "Agents",
                "add, switch on and off, who they are, remove",
                lambda: self.agents(""),
            ),
            "limits": (
                "Limits",
                "queues, loops, budgets, timeouts, backups",
                lambda: self.limits(""),
            ),
            "config": ("Settings file", "everything, in your editor", lambda: self.config("")),
            "keys": ("Keys", "your own keys, by pressing them", lambda: self.keys("")),
            "theme": ("Theme", "colours", lambda: self._act("app.theme")),
            "attention": (
                "Attention",
                "while you look elsewhere",
                lambda: self._act("app.attention"),
            ),
        }
        choices = [Choice(key, label, about) for key, (label, about, _) in places.items()]

        def chosen(key: str | None) -> None:
            if key is not None:
                places[key][2]()

        self._app.push_screen(Chooser(self._app.keymap, "Settings", choices), chosen)

    def _act(self, action_id: str) -> None:
        self._app.run_worker(self._app.action_act(action_id), group="commands")

    # --- agents

    def agents(self, argument: str) -> None:
        """The agents of the workspace: on, off, more, fewer."""
        offers: dict[str, Callable[[str], object]] = {
            "add": lambda actor_id: self._add(),
            "details": lambda actor_id: self._act_on("agent.card", actor_id),
            "correct": self._identity,
            "retract": self._remove,
        }
        words = {"accept": "on or off", "correct": "who it is", "retract": "remove"}
        use = Use(offers, opens=self._toggle, words=words, follows=self._agents)
        title = "Agents of this workspace"
        self._list = Chooser(
            self._app.keymap, title, self._agents(self._app.view), empty=NO_AGENTS, use=use
        )
        self._app.push_screen(self._list)

    def _agents(self, view: ClientView) -> list[Choice]:
        return [
            Choice(
                agent.actor_id,
                agent.name,
                f"@{agent.handle} · {agent.driver}".rstrip(" ·"),
                "on" if agent.enabled else "off",
            )
            for agent in view.agents
        ]

    def _act_on(self, action_id: str, actor_id: str) -> None:
        if actor_id:
            handle = actor_id.removeprefix("agent:")
            self._app.run_worker(self._app.action_act(action_id, handle), group="commands")

    def _toggle(self, actor_id: str) -> None:
        for agent in self._app.view.agents:
            if agent.actor_id == actor_id:
                self._change(("agents", "disable" if agent.enabled else "enable", agent.handle))

    def _identity(self, actor_id: str) -> None:
        """Write down who an agent is in this workspace."""
        path = self._app.command_line.config_path
        handle = actor_id.removeprefix("agent:")
        if path is None or not handle:
            self._app.tell(ELSEWHERE)
            return
        try:
            before = identity_in(path, handle)
        except ConfigError as error:
            self._app.tell(error.message, "warning")
            return

        def written(text: str | None) -> None:
            if text is not None and text != before:
                self._change(("agents", "set", handle, f"identity={text}"))

        title, edit = f"Who @{handle} is here", self._app.handlers.window.edit_text
        screen = Write(self._app.keymap, title, IDENTITY_ABOUT, before, edit)
        self._app.push_screen(screen, written)

    def _remove(self, actor_id: str) -> None:
        handle = actor_id.removeprefix("agent:")

        def answered(yes: bool | None) -> None:
            if yes:
                self._change(("agents", "remove", handle))

        if handle:
            text = f"@{handle} leaves the workspace. What it said stays."
            self._app.push_screen(
                Confirm(self._app.keymap, "Remove the agent?", text, "remove it"), answered
            )

    def _add(self) -> None:
        def found(printed: str) -> None:
            def chosen(key: str | None) -> None:
                if key is not None:
                    self._change(("agents", "add", key))

            choices = addable(printed)
            title = "Add an agent"
            self._app.push_screen(Chooser(self._app.keymap, title, choices), chosen)

        words = ("agents", "list", "--available", "--json")
        self._app.attempt(self._app.command_line.run(words), found)

    def _change(self, words: Sequence[str]) -> None:
        """Run a command that changes the config file; the cards follow by themselves."""

        def done(printed: str) -> None:
            lines = printed.strip().splitlines()
            self._app.tell(lines[-1] if lines else "Done.")
            if self._list is not None and self._list.is_attached:
                self._app.call_after_refresh(self._refresh)

        self._app.attempt(self._app.command_line.run(words), done)

    def _refresh(self) -> None:
        if self._list is not None and self._list.is_attached:
            self._list.replace_choices(self._list.heading, self._agents(self._app.view))

    # --- files

    def config(self, argument: str) -> None:
        """The settings file in the person's editor; then the server reads it."""
        path = self._app.command_line.config_path
        if path is None:
            self._app.tell(ELSEWHERE)
            return
        self._edit_file(path, "{\n}\n", self._reload)

    def _reload(self, path: Path) -> None:
        def show(printed: str) -> None:
            self._app.push_screen(text_screen(self._app, "Settings", printed))

        self._app.attempt(self._app.command_line.run(("reload",)), show)

    def keys(self, argument: str) -> None:
        """The person's own keys: chosen by pressing them; they count at once."""
        self._keys.open()

    def limits(self, argument: str) -> None:
        """Limits, timeouts, backups."""
        self._limits.open()

    def _edit_file(self, path: Path, template: str, then: Callable[[Path], object]) -> None:
        self._app.run_worker(self._edit(path, template, then), group="editor")

    async def _edit(self, path: Path, template: str, then: Callable[[Path], object]) -> None:
        from groupx_tui.editing import edit_file, editor_command

        try:
            command = editor_command(os.environ)
            with self._app.suspend():
                code = await edit_file(path, template, command)
        except SuspendNotSupported:
            self._app.tell(f"An editor needs a terminal of its own; the file is {path}.", "warning")
        except GroupXError as error:
            self._app.tell(error.message, "warning")
        else:
            if code == 0:
                then(path)
            else:
                self._app.tell(f"The editor ended with code {code}.", "warning")


def identity_in(path: Path, handle: str) -> str:
    """Who an agent is, as the config file says; empty when it does not. Raises: ConfigError."""
    agent = config_at(path).agents.get(handle)
    return "" if agent is None else agent.identity or ""


def addable(printed: str) -> list[Choice]:
    """The agents that can be added, those that are installed first."""
    try:
        reports = json.loads(printed.strip().splitlines()[-1])["available"]
    except (ValueError, KeyError, IndexError, TypeError):
        return []
    choices = [
        Choice(
            safe_line(str(report["agent"]), 60),
            safe_line(str(report["name"]), 60),
            safe_line(str(report.get("advice") or report.get("program") or ""), 200),
            STATES.get(str(report["state"]), safe_line(str(report["state"]), 30)),
        )
        for report in reports
        if not report.get("configured")
    ]
    return sorted(choices, key=lambda choice: choice.right != STATES["found"])
