"""What a terminal is told so that a person looks: a notification or the bell, and progress. Pure.

Which terminal understands what is read from its environment: none of these sequences is answered,
and one that is not understood may be shown as a notification of its own. Invariant: sequences are
ours, fixed; the one text in them is cleaned and holds none of their separators.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from groupx_shared.text import safe_line
from groupx_tui.state.model import TurnBlock
from groupx_tui.widgets.timeline.hints import is_uncertain

Mode = Literal["auto", "bell", "off"]
MODES: Final[dict[Mode, str]] = {
    "auto": "a notification where the terminal can, else the bell",
    "bell": "the bell",
    "off": "nothing",
}
BELL: Final = "\x07"
PROGRESS_ON: Final = "\x1b]9;4;3;0\x07"
PROGRESS_OFF: Final = "\x1b]9;4;0;0\x07"
MAX_CHARS: Final = 120
_TITLE: Final = "GroupX"
_OSC_9: Final = frozenset({"iTerm.app", "WezTerm", "ghostty"})
_OSC_777: Final = ("foot", "rxvt-unicode", "contour")
_FIRST_WITH_PROGRESS: Final = {"iTerm.app": (3, 6, 6), "ghostty": (1, 2), "mintty": (3, 4, 2)}
_FIRST_VTE_WITH_PROGRESS: Final = 7900


def sentence_of(turns: Sequence[TurnBlock]) -> str:
    """Return what to say about turns that ended just now; empty when nobody need look.

    An answer counts when a person had asked; a failure, and what is uncertain, always.
    """
    worth = [sentence for turn in turns if (sentence := _about(turn))]
    if len(worth) < 2:
        return "".join(worth)
    return f"{worth[0]} and {len(worth) - 1} more"


def _about(turn: TurnBlock) -> str:
    name = turn.author.name
    if is_uncertain(turn):
        return f"{name}: uncertain how far it came"
    if turn.phase == "failed":
        return f"{name} failed"
    return f"{name} answered" if turn.phase == "completed" and turn.hop_count == 0 else ""


def attention(sentence: str, mode: Mode, environ: Mapping[str, str]) -> str:
    """Return what to write to the terminal so that a person looks."""
    if mode == "off":
        return ""
    if mode == "bell" or is_multiplexed(environ):
        return BELL
    text = re.sub(r"[;\s]+", " ", safe_line(sentence, MAX_CHARS)).strip()
    program, term = environ.get("TERM_PROGRAM", ""), environ.get("TERM", "")
    if "KITTY_WINDOW_ID" in environ or term == "xterm-kitty":
        return f"\x1b]99;i=groupx:d=0;{_TITLE}\x1b\\\x1b]99;i=groupx:d=1:p=body;{text}\x1b\\"
    if program in _OSC_9:
        return f"\x1b]9;{_TITLE}: {text}\x07"
    if term.startswith(_OSC_777):
        return f"\x1b]777;notify;{_TITLE};{text}\x07"
    return BELL


def shows_progress(environ: Mapping[str, str]) -> bool:
    """Whether the terminal is known to take OSC 9;4 for progress: others show it as a message."""
    if is_multiplexed(environ):
        return False
    if "WT_SESSION" in environ or environ.get("ConEmuANSI") == "ON":
        return True
    first = _FIRST_WITH_PROGRESS.get(environ.get("TERM_PROGRAM", ""))
    if first is not None:
        return _numbers(environ.get("TERM_PROGRAM_VERSION", "")) >= first
    vte = environ.get("VTE_VERSION", "")
    return vte.isdecimal() and int(vte) >= _FIRST_VTE_WITH_PROGRESS


def is_multiplexed(environ: Mapping[str, str]) -> bool:
    """Whether tmux or screen stands between: they pass on the bell and little else."""
    has_one = "TMUX" in environ or "STY" in environ
    return has_one or environ.get("TERM", "").startswith(("tmux", "screen"))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d{1,9}", version)[:3])
