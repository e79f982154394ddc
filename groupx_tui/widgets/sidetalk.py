"""The side conversation as lines: who said what, what was done, what goes on now.

Lines of a message that has ended are laid out once for each width.
"""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from groupx_shared.text import safe_line, safe_text
from groupx_shared.wire.assistant import SideMessage
from groupx_tui.state.side import SideView
from groupx_tui.widgets.timeline.words import moment

INDENT = 2
EMPTY = (
    "Ask for anything that you could do here by command: “What goes on?”, “Let codex review the "
    "last change and tell me”, “Stop everything”. What is said here is in no room."
)
ENDINGS = {"failed": "failed", "cancelled": "stopped", "interrupted": "interrupted"}


class SideLines(Widget, can_focus=False):
    """All lines, as high as they are."""

    DEFAULT_CSS = """
    SideLines { height: auto; width: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._view = SideView()
        self._laid: dict[tuple[SideMessage, int], list[Content]] = {}

    def show(self, view: SideView) -> None:
        """Draw a newer view."""
        self._view = view
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Height of all lines."""
        return len(self.lines(width))

    def render(self) -> Content:
        return Content("\n").join(self.lines(self.content_size.width))

    def lines(self, width: int) -> list[Content]:
        """The lines at this width."""
        width = max(16, width)
        view = self._view
        found: list[Content] = []
        if view.older_before:
            found += [Content.styled("Older messages: page up.", "$muted"), Content("")]
        for message in view.messages:
            found += self._message(message, width)
            if message.message_id == view.live_id:
                found += _live(view, width)
        if not view.messages:
            found += _wrapped(Content.styled(_opening(view), "$muted"), width, 0)
        if view.trouble:
            found += _wrapped(Content.styled(view.trouble, "$text-warning"), width, 0)
        return found

    def _message(self, message: SideMessage, width: int) -> list[Content]:
        key = message, width
        if key not in self._laid:
            if len(self._laid) > 2 * len(self._view.messages) + 8:
                self._laid.clear()
            self._laid[key] = message_lines(message, width)
        return self._laid[key]


def message_lines(message: SideMessage, width: int) -> list[Content]:
    """One message: its head, its text, what was done for it, how it ended."""
    lines = [_head(message)]
    lines += _wrapped(Content(safe_text(message.content).strip("\n")), width, INDENT)
    for act in message.acts:
        lines += _wrapped(Content.styled(f"· {safe_line(act.summary)}", "$text-accent"), width, 2)
    if message.status in ENDINGS:
        why = f": {safe_line(message.error_message)}" if message.error_message else "."
        style = "$muted" if message.status == "cancelled" else "$text-error"
        lines += _wrapped(Content.styled(f"{ENDINGS[message.status]}{why}", style), width, 2)
    if message.status == "queued":
        lines.append(Content.styled("  waits", "$muted"))
    return [*lines, Content("")]


def _head(message: SideMessage) -> Content:
    name = "You" if message.role == "user" else "Assistant"
    style = "bold" if message.role == "user" else "bold $text-accent"
    at = Content.styled(f" {moment(message.created_at)}", "$muted")
    return Content.assemble((name, style), at)


def _live(view: SideView, width: int) -> list[Content]:
    """The answer under way, and what is done now."""
    head = Content.styled("Assistant", "bold $text-accent")
    lines = [head]
    if view.live_text:
        lines += _wrapped(Content(safe_text(view.live_text).strip("\n")), width, INDENT)
    if view.progress or not view.live_text:
        doing = safe_line(view.progress) or "…"
        lines += _wrapped(Content.styled(doing, "$muted"), width, INDENT)
    return [*lines, Content("")]


def _opening(view: SideView) -> str:
    status = view.status
    if status is not None and not status.enabled:
        return status.detail or EMPTY
    return EMPTY


def _wrapped(content: Content, width: int, indent: int) -> list[Content]:
    if not content.plain:
        return []
    left = " " * indent
    return [Content.assemble(left, line) for line in content.wrap(width - indent)]
