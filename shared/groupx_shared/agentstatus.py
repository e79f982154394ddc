"""How an agent's state is told to people: the wire's own word, with the time when it ends.

Standard library only; the command line and the terminal both use it, so that they agree.
"""

from __future__ import annotations

from datetime import datetime


def status_word(status: str) -> str:
    """`needs_login` -> `needs login`."""
    return status.replace("_", " ")


def status_text(status: str, until_iso: str | None) -> str:
    """`rate limited until 14:05`: with the local time when it ends, if that is known; the day too
    when it is another one. Seconds only for what ends within minutes (a restart)."""
    word = status_word(status)
    if until_iso is None:
        return word
    try:
        until = datetime.fromisoformat(until_iso).astimezone()
    except (ValueError, OverflowError, OSError):
        return word  # a newer server may write times in another form
    today = datetime.now(until.tzinfo).date()
    form = "%H:%M:%S" if status == "retrying" else "%H:%M"
    return f"{word} until {until:{form if until.date() == today else '%Y-%m-%d %H:%M'}}"
