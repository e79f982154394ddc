"""Finds the handler of an action: `room.next` is `RoomHandlers.next`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import isawaitable
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Final

from groupx_tui.actions import ACTIONS
from groupx_tui.handlers.agent import AgentHandlers
from groupx_tui.handlers.attention import Attention
from groupx_tui.handlers.block import BlockHandlers
from groupx_tui.handlers.composer import ComposerHandlers
from groupx_tui.handlers.context import ContextMeter
from groupx_tui.handlers.dialog import DialogHandlers
from groupx_tui.handlers.edit import EditHandlers
from groupx_tui.handlers.find import FindHandlers
from groupx_tui.handlers.panel import FocusHandlers, PanelHandlers
from groupx_tui.handlers.room import RoomHandlers
from groupx_tui.handlers.themefiles import ThemeFiles
from groupx_tui.handlers.timeline import TimelineHandlers
from groupx_tui.handlers.tool import ToolHandlers
from groupx_tui.handlers.turn import TurnHandlers
from groupx_tui.handlers.window import ServerHandlers, WindowHandlers
from groupx_tui.state.model import Block

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp
    from groupx_tui.handlers.removal import RemovalHandlers

Handler = Callable[[str], Any]


_LATE: Final = {
    "assistant": ("assistant", "AssistantHandlers"),
    "setup": ("setup", "SetupHandlers"),
    "memory": ("memory", "MemoryHandlers"),
    "thread": ("thread", "ThreadHandlers"),
    "watch": ("watch", "WatchHandlers"),
    "picture": ("picture", "PictureHandlers"),
    "context": ("inspect", "ContextHandlers"),
    "event": ("inspect", "EventHandlers"),
    "removal": ("removal", "RemovalHandlers"),
}
"""Nouns whose module is loaded when they are first asked for: none of their screens is in the first
frame, and some need the models of the wire, which take longer to load than all before it."""


class Handlers:
    """The handlers of one app, by noun."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self.room = RoomHandlers(app)
        self.context = ContextMeter(app)
        self.attention = Attention(app)
        self.window = WindowHandlers(app)
        self.themes = ThemeFiles(app)
        self.agent = AgentHandlers(app)
        self.tool = ToolHandlers(app)
        self.block = BlockHandlers(app)
        self.turn = TurnHandlers(app)
        self.composer = ComposerHandlers(app)
        self.searching = FindHandlers(app)
        self._nouns: dict[str, object] = {
            "room": self.room,
            "app": self.window,
            "server": ServerHandlers(app),
            "agent": self.agent,
            "turn": self.turn,
            "tool": self.tool,
            "find": self.searching,
            "timeline": TimelineHandlers(app),
            "block": self.block,
            "composer": self.composer,
            "edit": EditHandlers(app),
            "panel": PanelHandlers(app),
            "focus": FocusHandlers(app),
            "dialog": DialogHandlers(app),
        }

    def find(self, action_id: str) -> Handler:
        """The method for an action. Raises: KeyError, AttributeError when there is none (a test
        holds table and handlers together)."""
        noun, verb = ACTIONS[action_id].id.split(".")
        name = f"{verb}_" if iskeyword(verb) else verb
        handler: Handler = getattr(self._of(noun), name)
        return handler

    @property
    def removal(self) -> RemovalHandlers:
        """Removing texts for good, for all who show something."""
        handlers: RemovalHandlers = self._of("removal")
        return handlers

    def _of(self, noun: str) -> Any:
        if noun not in self._nouns:
            module, name = _LATE[noun]
            late = import_module(f"groupx_tui.handlers.{module}")
            self._nouns[noun] = getattr(late, name)(self._app)
        return self._nouns[noun]

    def marked_block(self) -> Block | None:
        """The block of the timeline that keys refer to now."""
        block_id = self._app.room.timeline.current_block_id
        for block in self._app.view.timeline.blocks:
            if block.block_id == block_id:
                return block
        return None

    async def run(self, action_id: str, argument: str = "") -> None:
        """Do it. A question asked by the action before (quit?) is over now."""
        if action_id != "app.interrupt":
            self._app.room.keybar.say("")
        result = self.find(action_id)(argument)
        if isawaitable(result):
            await result
