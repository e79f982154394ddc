"""English of our own sentences: numbers that stand before a noun.

Counterpart: `groupx_shared.text`, which cleans what others wrote.
"""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return `1 line`, `2 lines`, `1,240 lines`; `noun` takes an s in the plural."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
