"""Writes docs/KEYS.md from the action table; run as a program it updates the file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from groupx_tui.actions import PLACES, SLASH_WORDS, actions_of
from groupx_tui.keymap import TERMINAL_KEYS
from groupx_tui.widgets.composer.slash import GUIDE_WORDS, sent_word

INTRO: Final = """\
# Keys and commands

Everything can be done by key, by mouse, and from the palette (`ctrl+p`). `F1` shows this page in
the window, with the keys of the place you are in first.

Keys work in the place that has the keyboard: `tab` goes from writing to reading to the side panel.
`page up` and `page down` scroll the timeline from everywhere.
"""

OUTRO: Final = """\
## Your own keys

`/keys` shows all actions with their keys; `enter` and a key give it another one, at once, in the
open window too. It says beforehand from whom the key is taken, where it means something else, and
where it does not arrive. They are kept in `keys.json` in the folder of your GroupX configuration
(`~/.config/groupx` on Linux):

```json
{"keys": {"room.next": "alt+n", "turn.cancel": ["ctrl+g", "f8"], "app.suspend": []}}
```

A key given to another action leaves the one that has it by default; `[]` takes all keys from an
action. A mistake is told when the window opens (or when you come back from your editor), with the
action and the nearest name, and the default keys are used (or those from before).

## Terminals

* A new line is `ctrl+j` in every terminal. `alt+enter` works in most, `shift+enter` only in those
  that tell it from enter (the kitty keyboard protocol; tmux does not pass it on).
* Not used, because terminals, tmux and screen keep them: {kept}.
* `ctrl+z` suspends the window; `fg` brings it back. Undo is `ctrl+_`.
* If an input method does not work in your terminal, start with `TEXTUAL_DISABLE_KITTY_KEY=1`.
* The bell or a notification comes only while the terminal says that it has no focus (`/attention`
  chooses which). In tmux that needs `set -g focus-events on`.
* Pictures (PNG, JPEG, the first frame of GIF and WebP) are shown as such by terminals that say so
  when they are asked: with kitty's protocol, or as sixels (also in a tmux that says so). Other
  terminals with 256 colours or more show them in characters; else it is said what and where they
  are.
* Copying goes through the terminal (OSC 52), in tmux (3.2 and newer) through tmux's own buffer,
  which it hands on unless `set-clipboard` is `off`. What is said is what is known: no terminal
  answers.
"""


def keys_page() -> str:
    """The whole page."""
    parts = [INTRO]
    for place, heading in PLACES.items():
        rows = [
            f"| {_keys(action.keys)} | {action.help} | `{action.id}` |"
            for action in actions_of(place)
            if action.keys
        ]
        parts.append(
            "\n".join([f"## {heading}", "", "| key | does | action |", "|---|---|---|", *rows, ""])
        )
    parts.append(_slash_words())
    parts.append(OUTRO.replace("{kept}", ", ".join(f"`{key}`" for key in TERMINAL_KEYS)))
    return "\n".join(parts)


def _slash_words() -> str:
    own = [
        f"| `/{word}{' ' + _cell(action.argument) if action.argument else ''}` | {action.help} |"
        for word, action in SLASH_WORDS.items()
    ]
    guide = [
        f"| `{sent_word(word)}{' ' + argument if argument else ''}` | {about}. |"
        for word, (argument, about) in GUIDE_WORDS.items()
    ]
    return "\n".join(
        [
            "## Slash commands", "",
            "Typed as a message. These are done by the window itself:", "",
            "| command | does |", "|---|---|", *own, "",
            "Every other word after a slash is sent as a message, so agents can have commands of",
            "their own. `//word` sends `/word` even when the window knows it. Those of the",
            "built-in guide:",
            "", "| sent to the agent | does |", "|---|---|", *guide, "",
        ]
    )  # fmt: skip


def _keys(keys: tuple[str, ...]) -> str:
    return " ".join(f"`{_cell(key)}`" for key in keys)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    page = Path(__file__).parents[2] / "docs" / "KEYS.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(keys_page(), "utf-8")
