"""Finds in a prompt what the guide needs: the person's own words, the room, who it is asked as.

The server says these in the prompt's `_meta.groupx`; a prompt of another client is read as a
context packet (`groupx.context/0.4`), else taken whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_HEADER_FIELD: Final = re.compile(r"^(room|target)=(\S+)$", re.MULTILINE)
_FENCE: Final = re.compile(r"\[groupx_protocol fence=(\S+)\]\n")
_MENTIONS: Final = re.compile(r"^(?:@[\w.:/-]+[,:]?\s+)+")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt: `text` whole for a model, `current` the person's own message."""

    text: str
    current: str
    room_id: str | None = None
    actor_id: str | None = None


def read_prompt(blocks: Sequence[Any], meta: Any) -> Prompt:
    """Read the `prompt` blocks and `_meta` of a `session/prompt`."""
    text = "\n\n".join(filter(None, (_block_text(block) for block in blocks)))
    groupx = meta.get("groupx") if isinstance(meta, Mapping) else None
    told = groupx if isinstance(groupx, Mapping) else {}
    header = _header(text)
    current = told.get("currentMessage")
    if not isinstance(current, str):
        current = _current_section(text)
    return Prompt(
        text=text,
        current=without_mentions(current),
        room_id=_text(told.get("roomId")) or header.get("room"),
        actor_id=_text(told.get("actorId")) or header.get("target"),
    )


def without_mentions(text: str) -> str:
    """Return `text` without the `@names` it begins with."""
    return _MENTIONS.sub("", text.strip())


def _header(text: str) -> dict[str, str]:
    """The fields of the protocol section, which the server alone writes."""
    first = _FENCE.match(text.lstrip())
    if first is None:
        return {}
    section, _, _ = text.partition(f"\n[/groupx_protocol fence={first[1]}]")
    return dict(_HEADER_FIELD.findall(section))


def _current_section(text: str) -> str:
    """The content of the current message; the whole text when it is no packet.

    Only lines with the fence word of the packet's first line are structure, so nothing that
    somebody wrote can pose as the current message.
    """
    first = _FENCE.match(text.lstrip())
    if first is None:
        return text
    fence = re.escape(first[1])
    entry = re.compile(
        rf"^\[current_message fence={fence}\]\n\[entry fence={fence}[^\n]*\]\n"
        rf"(?P<content>.*?)\n\[/entry fence={fence}\]$",
        re.MULTILINE | re.DOTALL,
    )
    found = entry.search(text)
    return text if found is None else found["content"]


def _block_text(block: Any) -> str:
    """The text of one ACP content block; links by address, pictures and sound by a note."""
    if not isinstance(block, Mapping):
        return ""
    kind = block.get("type")
    if kind == "text":
        return _text(block.get("text")) or ""
    if kind == "resource":
        resource = block.get("resource")
        return (_text(resource.get("text")) or "") if isinstance(resource, Mapping) else ""
    if kind == "resource_link":
        return f"[link: {_text(block.get('uri')) or ''}]"
    return f"[{kind} content, which this agent cannot read]"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
