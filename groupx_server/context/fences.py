"""Fenced text: lines with a word that is fresh for each prompt are structure, the rest quoted."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Final

FENCE_BYTES: Final = 9


def fence_for(texts: Sequence[str]) -> str:
    """A word that occurs in none of these texts."""
    while True:
        fence = secrets.token_urlsafe(FENCE_BYTES)
        if not any(fence in text for text in texts):
            return fence


def entry(fence: str, content: str, **fields: str) -> str:
    """One quoted text with what is known of it."""
    head = " ".join(f"{name}={value}" for name, value in fields.items())
    return f"[entry fence={fence} {head}]\n{content}\n[/entry fence={fence}]"


def section(name: str, fence: str, lines: Iterable[str], note: str = "") -> str:
    """A named part of the prompt."""
    body = "\n".join(lines)
    return f"[{name} fence={fence}{note}]\n{body}\n[/{name} fence={fence}]"
