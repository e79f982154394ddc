"""The one table of what a person can do: keys, palette, help, key line and slash words read it.

An action is `noun.verb`. Its handler is the method `verb` of the noun's class in
`groupx_tui.handlers`; tests hold table, handlers and docs/KEYS.md together. Pure: no Textual.
Counterpart: `keymap`, which puts a person's own keys over the defaults here.

Keys that terminals, tmux and screen keep for themselves are not used: ctrl+a (screen), ctrl+b
(tmux), ctrl+q and ctrl+s (flow control); ctrl+z suspends, as everywhere. f10 opens the menu of some
terminals, so it is never the only key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Where = Literal["anywhere", "composer", "timeline", "panel", "dialog"]
"""What must have the keyboard for an action's keys to work. `anywhere` is any part of the room,
not a dialog."""

PLACES: Final[dict[Where, str]] = {
    "composer": "Writing",
    "timeline": "Reading",
    "panel": "Rooms and agents",
    "dialog": "Dialogs and lists",
    "anywhere": "Anywhere",
}
"""The places in the order of the help, with their headings."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do."""

    id: str
    label: str
    """A few words, for the key line and the palette."""
    help: str
    """One sentence."""
    keys: tuple[str, ...] = ()
    """Default keys; the first is shown."""
    where: Where = "anywhere"
    slash: str = ""
    """Word after `/` in the composer that does the same."""
    argument: str = ""
    """What the slash word takes, as shown in the completion."""
    footer: str = ""
    """Word in the key line; empty: not there."""
    in_palette: bool = True
    in_list: str = ""
    """Word in the key line while a list of candidates is open; empty: not there."""


def _any(
    name: str,
    label: str,
    about: str,
    *keys: str,
    slash: str = "",
    argument: str = "",
    footer: str = "",
) -> Action:
    return Action(name, label, about, keys, "anywhere", slash, argument, footer)


def _edit(
    name: str, label: str, about: str, *keys: str, footer: str = "", in_list: str = ""
) -> Action:
    return Action(
        name, label, about, keys, "composer", footer=footer, in_palette=False, in_list=in_list
    )


def _read(
    name: str,
    label: str,
    about: str,
    *keys: str,
    slash: str = "",
    argument: str = "",
    footer: str = "",
    in_palette: bool = True,
) -> Action:
    return Action(name, label, about, keys, "timeline", slash, argument, footer, in_palette)


def _list(name: str, label: str, about: str, *keys: str, footer: str = "") -> Action:
    return Action(name, label, about, keys, "panel", footer=footer, in_palette=False)


def _dialog(name: str, label: str, about: str, *keys: str, footer: str = "") -> Action:
    return Action(name, label, about, keys, "dialog", footer=footer, in_palette=False)


_COMPOSER: Final = (
    _edit(
        "composer.send",
        "Send the message",
        "Send what is written, or run it when it is a slash command.",
        "enter",
        footer="send",
        in_list="take",
    ),
    _edit(
        "composer.newline",
        "New line",
        "Start a new line. Which of these keys arrive depends on the terminal; ctrl+j always does.",
        "ctrl+j",
        "alt+enter",
        "shift+enter",
    ),
    _edit(
        "composer.complete",
        "Complete",
        "Take the marked @agent, /command or name; when no list is open, go to the next part.",
        "tab",
    ),
    _edit(
        "composer.back",
        "Back",
        "Close the list, else drop the reply or the watcher, else go to the timeline.",
        "escape",
        in_list="close the list",
    ),
    _edit(
        "composer.up",
        "Line up",
        "One line up; on the first line, the earlier message.",
        "up",
        in_list="mark",
    ),
    _edit(
        "composer.down",
        "Line down",
        "One line down; on the last line, the later message.",
        "down",
        in_list="mark",
    ),
    _edit("edit.cursor_left", "Left", "One character left.", "left"),
    _edit("edit.cursor_right", "Right", "One character right.", "right"),
    _edit("edit.cursor_word_left", "Word left", "One word left.", "ctrl+left", "alt+b"),
    _edit("edit.cursor_word_right", "Word right", "One word right.", "ctrl+right", "alt+f"),
    _edit("edit.cursor_line_start", "Line start", "Start of the line.", "home", "ctrl+a"),
    _edit("edit.cursor_line_end", "Line end", "End of the line.", "end", "ctrl+e"),
    _edit("edit.select_left", "Select left", "Select one character left.", "shift+left"),
    _edit("edit.select_right", "Select right", "Select one character right.", "shift+right"),
    _edit("edit.select_up", "Select up", "Select one line up.", "shift+up"),
    _edit("edit.select_down", "Select down", "Select one line down.", "shift+down"),
    _edit("edit.select_all", "Select all", "Select everything that is written.", "f7"),
    _edit("edit.delete_left", "Delete left", "Delete the character before.", "backspace"),
    _edit("edit.delete_right", "Delete right", "Delete the character after.", "delete"),
    _edit(
        "edit.delete_word_left",
        "Delete word",
        "Delete the word before.",
        "ctrl+w",
        "alt+backspace",
        "ctrl+backspace",
    ),
    _edit(
        "edit.delete_to_start_of_line", "Delete to start", "Delete to the line's start.", "ctrl+u"
    ),
    _edit("edit.delete_to_end_of_line", "Delete to end", "Delete to the line's end.", "ctrl+k"),
    _edit("edit.cut", "Cut", "Cut the selection, else the line.", "ctrl+x"),
    _edit("edit.paste", "Paste", "Paste what was cut or copied here.", "ctrl+v"),
    _edit("edit.undo", "Undo", "Undo; a paste is one step.", "ctrl+underscore", "ctrl+slash"),
    _edit("edit.redo", "Redo", "Do it again.", "ctrl+y"),
    _edit(
        "composer.open_paste",
        "Open a paste",
        "Show a large paste whole in place of its chip; it is sent whole either way.",
        "f6",
    ),
    Action(
        "composer.supervise",
        "Let an agent watch",
        "Choose an agent that watches those who get the message, advises them or stops them.",
        ("f8",),
        "composer",
        slash="watch",
        argument="@AGENT WORDS",
    ),
    _edit(
        "composer.delete_or_quit",
        "Delete right, or close",
        "Delete the character after; when nothing is written, close this window.",
        "ctrl+d",
    ),
)

_TIMELINE: Final = (
    _read("timeline.previous", "Previous part", "Mark the part before.", "up", "k",
          footer="select", in_palette=False),
    _read("timeline.next", "Next part", "Mark the part after.", "down", "j",
          footer="select", in_palette=False),
    _read("timeline.toggle", "Open or close",
          "Open or close what is marked; on a message, show its details.", "enter", "space",
          footer="open", in_palette=False),
    _read("block.reply", "Reply", "Reply to the marked message.", "r", footer="reply"),
    _read("block.forward", "Pass on",
          "Pass the marked message on, in this room or another one, with its author.", "f"),
    _read("block.origin", "What it belongs to",
          "Go to the message that the marked one answers or passes on.", "o"),
    _read("block.copy", "Copy", "Copy the selection, else what is marked.", "c", "y",
          footer="copy"),
    _read("timeline.select_down", "Select lines down",
          "Select the marked line, then one more below each time; c copies, esc drops it.", "J",
          in_palette=False),
    _read("timeline.select_up", "Select lines up",
          "Select the marked line, then one more above each time.", "K", in_palette=False),
    _read("block.copy_code", "Copy code", "Copy the marked code block, or the last one seen.",
          "x"),
    _read("block.full_text", "Load the whole text", "Load all of a text that is cut short.", "l"),
    _read("picture.show", "Show a picture",
          "Show the picture that the marked part names, where the terminal shows pictures.", "p",
          slash="picture", argument="FILE"),
    _read("turn.details", "Turn details", "Show the states, times and ids of a turn.", "d"),
    _read("turn.retry", "Retry a turn",
          "Send the message of a turn that did not complete once more.", "R",
          slash="retry", argument="@AGENT"),
    _read("turn.continue", "Continue a turn",
          "Ask the agent to go on with a turn that did not complete, or let agents go on that a "
          "limit stopped.", "C",
          slash="continue", argument="@AGENT"),
    _read("thread.toggle", "Open or close an exchange",
          "Open or close what agents said to each other because of the marked message.", "t"),
    _read("thread.toggle_all", "Open or close all exchanges",
          "Open or close all that agents said to each other.", "T"),
    _read("thread.tree", "Who asked whom",
          "Show all that the marked message led to as a tree, also what is not loaded, and go to "
         "what is chosen.", "w",
          slash="thread"),
    _read("thread.older", "Earlier part of the exchange",
          "Go to the part before that has the same first message.", "(", in_palette=False),
    _read("thread.newer", "Later part of the exchange",
          "Go to the part after that has the same first message.", ")", in_palette=False),
    _read("thread.stop", "Stop all that a message led to",
          "Stop every turn that the marked message, else the newest one, led to.", "X",
          slash="stop"),
    _read("event.inspect", "Look at the event",
          "Show the marked part as it stands in the ledger.", "e"),
    _read("removal.begin", "Remove for good",
          "Remove the text of the marked part for good, after showing what goes and what stays.",
          "D", "delete",
          slash="redact", argument="ID|NUMBER"),
    _read("timeline.toggle_time", "Times or how long ago",
          "Show how long ago things were said, or at what time.", "z"),
    _read("find.room", "Search this room", "Look for words in this room, however long it is.", "/",
          slash="search", argument="WORDS", footer="search"),
    _read("find.older", "Older hit", "Go to the hit before, farther up.", "n", in_palette=False),
    _read("find.newer", "Newer hit", "Go to the hit after, farther down.", "N", in_palette=False),
    _read("timeline.line_up", "Line up", "Scroll one line up.", "shift+up", "ctrl+up",
          in_palette=False),
    _read("timeline.line_down", "Line down", "Scroll one line down.", "shift+down", "ctrl+down",
          in_palette=False),
    _read("timeline.half_page_up", "Half a page up", "Scroll half a page up.", "ctrl+u",
          in_palette=False),
    _read("timeline.half_page_down", "Half a page down", "Scroll half a page down.", "ctrl+d",
          in_palette=False),
    _read("timeline.previous_own", "Previous of mine", "Go to my message before.", "["),
    _read("timeline.next_own", "Next of mine", "Go to my message after.", "]"),
    _read("timeline.previous_failed", "Previous without an answer",
          "Go to the turn before that ended without an answer.", "{"),
    _read("timeline.next_failed", "Next without an answer",
          "Go to the turn after that ended without an answer.", "}"),
    _read("timeline.home", "First message", "Go to the first message of the room.", "home", "g",
          in_palette=False),
    _read("timeline.end", "Newest message", "Go to the end and follow it.", "end", "G",
          in_palette=False),
    _read("timeline.fold_all", "Fold all", "Close all reasoning, plans and tool calls.", "-"),
    _read("timeline.unfold_all", "Unfold all", "Open all reasoning, plans and tool calls.", "+"),
    _read("timeline.back", "Write",
          "Drop the selection, else end the search, else go to the composer.", "escape", "i",
          footer="write", in_palette=False),
)  # fmt: skip

_PANEL: Final = (
    _list("panel.open", "Open", "Go to the room, or address the agent.", "enter", footer="open"),
    _list("panel.up", "Up", "Mark the line before.", "up", "k"),
    _list("panel.down", "Down", "Mark the line after.", "down", "j"),
    _list("panel.leave", "Write", "Go to the composer.", "escape", footer="write"),
)

_ANYWHERE: Final = (
    _any("app.palette", "Commands", "Find anything that can be done here.", "ctrl+p",
         footer="commands"),
    _any("room.switch", "Go to a room", "Choose a room by a few letters of its title.", "ctrl+o",
         slash="room", argument="NAME", footer="rooms"),
    _any("app.help", "Help", "Show the keys, those of this place first.", "f1",
         slash="help", footer="help"),
    _any("room.previous", "Previous room", "Go to the room above.", "alt+up", "ctrl+pageup"),
    _any("room.next", "Next room", "Go to the room below.", "alt+down", "ctrl+pagedown"),
    _any("room.create", "New room", "Make a room and go there.", slash="new", argument="TITLE"),
    _any("room.rename", "Rename the room", "Give this room another title.",
         slash="rename", argument="TITLE"),
    _any("room.archive", "Archive the room",
         "Take this room off the list; everything in it stays and it can be restored.",
         slash="archive"),
    _any("room.restore", "Restore a room", "Put an archived room back on the list.",
         slash="restore", argument="NAME"),
    _any("turn.cancel", "Stop an agent's turn",
         "Ask the running agent to stop, or take a waiting message back; with several, choose.",
         "ctrl+g",
         slash="cancel", argument="@AGENT", footer="stop"),
    _any("agent.list", "Agents", "Show all agents with what they are doing; enter addresses one.",
         "f3", slash="agents"),
    _any("agent.restart", "Restart an agent", "Start an agent's program again.",
         slash="restart", argument="@AGENT"),
    _any("assistant.open", "Ask the assistant",
         "Talk with the room assistant beside the room; with words, ask at once.", "alt+a",
         slash="assistant", argument="WORDS"),
    _any("watch.show", "Who watches whom",
         "Show who works and who watches side by side, live; advise, steer or stop them.", "alt+w",
         slash="watching", argument="@AGENT"),
    _any("timeline.page_up", "Page up", "Scroll the timeline one page up.", "pageup"),
    _any("timeline.page_down", "Page down", "Scroll the timeline one page down.", "pagedown"),
    _any("timeline.first", "First message", "Go to the first message of the room.", "ctrl+home"),
    _any("timeline.last", "Newest message", "Go to the end of the room and follow it.",
         "ctrl+end"),
    _any("timeline.jump", "Jump",
         "Go to the first or last message, to an event by its number, or to a day or time.",
         slash="jump", argument="first|last|NUMBER|DATE"),
    _any("timeline.toggle_reasoning", "Show or hide reasoning",
         "Open or close the reasoning of all turns.", "ctrl+r"),
    _any("timeline.toggle_tools", "Show or hide tool calls",
         "Open or close the tool calls of all turns.", "ctrl+t"),
    _any("find.everywhere", "Search all rooms",
         "Look for words in all rooms, and go to what is chosen.", "ctrl+f",
         slash="everywhere", argument="WORDS"),
    _any("panel.toggle", "Show or hide the side panel", "Rooms and agents at the left.", "f2"),
    _any("focus.next", "Next part", "Go to the next part of the window.", "tab"),
    _any("focus.previous", "Previous part", "Go to the part before.", "shift+tab"),
    _any("app.editor", "Write in your editor",
         "Open what is written in $VISUAL or $EDITOR; saved, it comes back to be sent.", "f4"),
    _any("server.start", "Start the server", "Start the server of this workspace, if it is gone.",
         "f5", slash="start"),
    _any("server.reconnect", "Reconnect now",
         "Try to reach the server at once instead of at the next try.", slash="reconnect"),
    _any("app.theme", "Theme", "Choose the colours; they show while you choose.",
         slash="theme", argument="NAME"),
    _any("app.attention", "Attention",
         "What happens when an answer comes or a turn fails while you look elsewhere.",
         slash="attention", argument="auto|bell|off"),
    _any("app.mouse", "Mouse",
         "Use the mouse here, or leave it to the terminal, to select there.", slash="mouse",
         argument="on|off"),
    _any("app.export", "Export the room",
         "Write this room, or all rooms, to a file: to read, or every event.",
         slash="export", argument="FILE"),
    _any("memory.browse", "Memory",
         "Show what is remembered and who agents are: whose, by whom, since when; find, add, "
         "correct, pin, take back.", "f9",
         slash="memory", argument="WORDS"),
    _any("context.preview", "What an agent would be told",
         "Show what an agent would get with the next message, and what fills it.", "alt+i", "f10",
         slash="context", argument="@AGENT"),
    _any("context.compact", "Sum the room up",
         "Have an agent sum up what is older than the last 12 messages; all that you see stays.",
         slash="compact"),
    _any("context.reset", "Begin anew",
         "Tell agents nothing any more of what was said in this room until now, in new sessions; "
         "the messages stay.",
         slash="reset"),
    _any("removal.result", "What was removed last",
         "Show what the last removal took, what it left alone and what it cannot reach.",
         slash="removed"),
    _any("agent.card", "An agent's card",
         "Show all that is known of an agent: state, model, folder, use, cost, last error; stop "
         "its turn, restart it, test it.",
         slash="agent", argument="@AGENT"),
    _any("setup.open", "Settings", "Choose what to set: agents, limits, keys, colours, attention.",
         slash="settings"),
    _any("setup.agents", "Set up agents",
         "Add agents, switch them on and off, say who they are, remove them.",
         slash="agents-setup"),
    _any("setup.limits", "Limits",
         "Show and change limits of queues, loops and budgets, timeouts, backups.",
         slash="limits"),
    _any("setup.config", "Settings file",
         "Open the settings of this workspace in your editor; then they are read.",
         slash="config"),
    _any("setup.keys", "Your own keys",
         "Show all keys and choose others by pressing them; they count at once.",
         slash="keys"),
    _any("tool.usage", "Tokens and cost", "Show what the agents' turns have used.",
         slash="usage"),
    _any("tool.doctor", "Doctor", "Look at everything and say what is wrong and what to do.",
         slash="doctor"),
    _any("tool.backups", "Backups", "Show the backups of this workspace.", slash="backups"),
    _any("tool.backup", "Back up now", "Make a checked backup of this workspace.", slash="backup"),
    _any("tool.logs", "Log", "Show the end of the server's log.", slash="logs"),
    _any("tool.about", "About", "Show versions, places and how the server is.", slash="about"),
    _any("app.quit", "Quit", "Close this window; the server and the agents go on.",
         slash="quit"),
    _any("app.interrupt", "Clear, or quit",
         "Copy the selection; else clear what is written; else, pressed twice, quit.", "ctrl+c"),
    _any("app.suspend", "Suspend", "Back to the shell; fg returns.", "ctrl+z"),
    _any("app.redraw", "Draw again", "Draw the whole screen again.", "ctrl+l"),
)  # fmt: skip

_DIALOG: Final = (
    _dialog("dialog.accept", "Choose", "Do it, or take the marked line.", "enter",
            footer="choose"),
    _dialog("dialog.close", "Close", "Close without doing anything.", "escape", "ctrl+c",
            footer="close"),
    _dialog("dialog.delete_or_close", "Delete right, or close",
            "Delete the character after; when nothing is written, close; in a text to read, half a "
            "page down, and close at its end.", "ctrl+d"),
    _dialog("dialog.up", "Up", "Mark the line before.", "up", "ctrl+p"),
    _dialog("dialog.down", "Down", "Mark the line after.", "down", "ctrl+n"),
    _dialog("dialog.page_up", "Page up", "One page up.", "pageup"),
    _dialog("dialog.page_down", "Page down", "One page down.", "pagedown"),
    _dialog("dialog.retry", "Retry", "In a turn's details: send its message once more.", "ctrl+r"),
    _dialog("dialog.continue", "Continue", "In a turn's details: ask the agent to go on.",
            "ctrl+e"),
    _dialog("dialog.next_part", "Next part",
            "In a form: the next part; in memory: choose whose, which kind, by whom.", "tab"),
    _dialog("dialog.previous_part", "Part before", "In a form: the part before.", "shift+tab"),
    _dialog("dialog.editor", "Open in your editor",
            "In a form or among your keys: open it in $VISUAL or $EDITOR; saved, it comes back.",
            "alt+e"),
    _dialog("dialog.add", "Add", "In a list of what is remembered: add something.", "f2"),
    _dialog("dialog.details", "Details", "In a list of agents: show all that is known of one.",
            "f3"),
    _dialog("dialog.history", "History",
            "In memory: show all versions of one, with what changed.", "f4"),
    _dialog("dialog.source", "Source", "Go to the message that something comes from.", "f5"),
    _dialog("dialog.pin", "Pin", "Let it go with every turn, or not any more.", "f6"),
    _dialog("dialog.correct", "Correct", "Put another text in its place; the old one stays in "
            "the history. In a list of agents to set up: write down who one is.", "f7"),
    _dialog("dialog.retract", "Take back", "Tell it to nobody any more; it stays in the history.",
            "f8"),
    _dialog("dialog.redact", "Remove for good",
            "Remove the text of what is shown or marked for good, after showing what goes and what "
            "stays.", "alt+r"),
    _dialog("dialog.summary", "Summary",
            "In what an agent would be told: show what sums up the older messages.", "alt+u"),
    _dialog("dialog.restart", "Restart", "On an agent's card: start its program again.", "f9"),
    _dialog("dialog.cancel", "Stop its turn",
            "On an agent's card: ask it to stop what it works on.", "ctrl+x"),
    _dialog("dialog.doctor", "Doctor", "On an agent's card: start it as a trial and say what is "
            "wrong.", "alt+d", "f10"),
    _dialog("dialog.nudge", "Advise",
            "Beside who watches whom: say something to the one at work, in its turn if it can be "
            "told now, else as its next.", "alt+n"),
    _dialog("dialog.steer", "Steer",
            "Beside who watches whom: stop the turn and give it something else to do.", "alt+s"),
    _dialog("assistant.cancel", "Stop the assistant",
            "With the assistant: stop its answer; what it did stays done.", "ctrl+g"),
    _dialog("assistant.clear", "Forget the conversation",
            "With the assistant: begin anew; what it did stays in the rooms.", "ctrl+t"),
    _dialog("dialog.copy", "Copy", "Copy what is shown, or its id.", "ctrl+y"),
)  # fmt: skip

ACTIONS: Final[dict[str, Action]] = {
    action.id: action for action in (*_COMPOSER, *_TIMELINE, *_PANEL, *_ANYWHERE, *_DIALOG)
}
"""All actions by id, in the order of the help."""

SLASH_WORDS: Final[dict[str, Action]] = {
    action.slash: action for action in ACTIONS.values() if action.slash
}
"""Actions by their slash word. A slash word that is not here is sent as a message."""


def actions_of(where: Where) -> tuple[Action, ...]:
    """The actions whose keys work in one place, in the order of the table."""
    return tuple(action for action in ACTIONS.values() if action.where == where)
