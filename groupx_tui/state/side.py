"""The side conversation as it is shown: `reduce(view, frame) -> view`, pure.

Messages stand in the order in which they were written, each once; the answer under way is beside
them until its message comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from groupx_shared.wire.assistant import ENDED, AssistantFrame, AssistantReply, SideMessage


@dataclass(frozen=True, slots=True)
class SideView:
    """What is known of the conversation."""

    status: AssistantReply | None = None
    messages: tuple[SideMessage, ...] = ()
    live_id: str = ""
    """The request being answered."""
    live_text: str = ""
    progress: str = ""
    """What is done for it now; empty: nothing to tell."""
    older_before: str | None = None
    """There are older messages: the page before this one."""
    trouble: str = ""
    """Why nothing is heard of the server; empty: it is."""
    known: frozenset[str] = field(default_factory=frozenset)

    @property
    def is_busy(self) -> bool:
        """A request waits or is being answered."""
        return any(message.status in ("queued", "running") for message in self.messages)


def apply_frame(view: SideView, frame: AssistantFrame) -> SideView:
    """The view after one frame."""
    view = replace(view, trouble="")
    if frame.type == "status":
        return replace(view, status=frame.assistant)
    if frame.type == "cleared":
        return SideView(status=view.status)
    if frame.type == "message" and frame.message is not None:
        return with_messages(view, [frame.message])
    if frame.request_id is None:
        return view
    if frame.request_id != view.live_id:
        view = replace(view, live_id=frame.request_id, live_text="", progress="")
    if frame.type == "progress":
        return replace(view, progress=frame.text or "")
    return _with_piece(view, frame.offset or 0, frame.text or "")


def _with_piece(view: SideView, offset: int, text: str) -> SideView:
    if offset > len(view.live_text):
        return view  # a piece is missing; the message itself comes in the end
    return replace(view, live_text=view.live_text[:offset] + text)


def with_messages(view: SideView, messages: Iterable[SideMessage]) -> SideView:
    """The view with these messages, each in the place of the one with its id."""
    found = {message.message_id: message for message in view.messages}
    for message in messages:
        found[message.message_id] = message
        ends = message.message_id == view.live_id and message.status in ENDED
        if ends:
            view = replace(view, live_id="", live_text="", progress="")
    ordered = sorted(found.values(), key=lambda each: (each.created_at, each.message_id))
    return replace(view, messages=tuple(ordered), known=frozenset(found))


def with_page(
    view: SideView, messages: Iterable[SideMessage], older_before: str | None
) -> SideView:
    """The view with a page of older messages."""
    fresh = [message for message in messages if message.message_id not in view.known]
    return replace(with_messages(view, fresh), older_before=older_before)


def with_trouble(view: SideView, why: str) -> SideView:
    """Nothing is heard of the server for now."""
    return replace(view, trouble=why)
