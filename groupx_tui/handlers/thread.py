"""What one message led to: opening and closing it, who asked whom, going along it, stopping it.

A thread is everything with one root. Invariant: what is stopped is what was told, and nobody is
stopped without a question when it is more than one turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from groupx_shared.text import safe_line
from groupx_tui.screens.chooser import Choice, Chooser, Use
from groupx_tui.screens.confirm import Confirm
from groupx_tui.screens.turn import PHASE_WORDS
from groupx_tui.state.lineage import Branch, blocks_of_root, tree_of
from groupx_tui.state.model import Block, MessageBlock, TurnBlock
from groupx_tui.widgets.timeline import words
from groupx_tui.widgets.timeline.threads import THREAD, thread_id, thread_of

if TYPE_CHECKING:
    from groupx_shared.wire.roots import RootCancelled
    from groupx_tui.app import GroupXApp
    from groupx_tui.client.lineage import Lineage

EXCERPT_CHARS: Final = 120
MAX_NAMED: Final = 8
NOT_MARKED: Final = "Mark a message or an answer first: what it led to is shown then."


class ThreadHandlers:
    """`thread.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def toggle(self, argument: str) -> None:
        """Open or close the exchange of the marked part."""
        root = self._marked_root()
        if not any(thread_of(block) == root for block in self._blocks(root)):
            self._app.tell("No agent called another one because of this message.")
            return
        self._app.room.timeline.toggle_fold(thread_id(root), THREAD)

    def toggle_all(self, argument: str) -> None:
        """Open or close all exchanges."""
        self._app.room.timeline.action_toggle_threads()

    def tree(self, argument: str) -> None:
        """Show who asked whom, also what is not loaded; Enter goes there."""
        root = self._marked_root() or self._newest_root()
        timeline = self._app.view.timeline
        if not root:
            self._app.tell(NOT_MARKED)
        elif timeline.has_more_before or timeline.has_more_after:
            self._app.attempt(self._app.session.lineage(root), partial(self._show_read, root))
        else:
            self._show_tree(root, timeline.blocks)

    def _show_read(self, root: str, found: Lineage) -> None:
        self._show_tree(root, found.blocks)
        if not found.is_whole:
            self._app.tell("It goes on for longer than can be shown here: the beginning is shown.")

    def _show_tree(self, root: str, blocks: Sequence[Block]) -> None:
        branches = tree_of(blocks, root)
        if not branches:
            self._app.tell(NOT_MARKED)
            return
        known = {branch.block.block_id: branch.block for branch in branches}

        def done(block_id: str | None) -> None:
            if block_id is not None:
                self._go_far(known[block_id])

        marked = self._app.room.timeline.current_block_id or ""
        choices = [_choice(branch) for branch in branches]
        title = "Who asked whom"
        chooser = Chooser(self._app.keymap, title, choices, marked=marked, use=Use(is_wide=True))
        self._app.push_screen(chooser, done)

    def _go_far(self, block: MessageBlock | TurnBlock) -> None:
        """Go to a block, loaded or not."""
        loaded = {each.block_id for each in self._app.view.timeline.blocks}
        if block.block_id in loaded or not block.order_seq:
            self._go(block.block_id)
            return

        def arrived(block_id: str | None) -> None:
            self._app.draw_view()
            self._go(block.block_id)

        self._app.attempt(self._app.session.jump(block.order_seq), arrived)

    def older(self, argument: str) -> None:
        """The part before of the same root."""
        self._step(-1)

    def newer(self, argument: str) -> None:
        """The part after of the same root."""
        self._step(1)

    def stop(self, argument: str) -> None:
        """Stop every turn that the marked message, else the newest one that is worked on, led
        to."""
        root = self._marked_root() if self._app.room.place == "timeline" else ""
        turns = self._open_turns(root) if root else []
        if not turns and self._app.view.open_turns:
            turns = self._open_turns(self._app.view.open_turns[-1].root_id)
        if not turns:
            self._app.tell("Nothing that this message led to is being worked on.")
        elif len(turns) == 1:
            self._stop(turns)
        else:
            self._confirm(turns)

    # --- inside

    def _marked_root(self) -> str:
        """The root of what is marked; empty when nothing is."""
        block_id = self._app.room.timeline.current_block_id or ""
        if block_id.startswith(thread_id("")):
            return block_id.removeprefix(thread_id(""))
        block = self._app.handlers.marked_block()
        return "" if block is None else block.root_id

    def _newest_root(self) -> str:
        return next((b.root_id for b in reversed(self._app.view.timeline.blocks) if b.root_id), "")

    def _blocks(self, root: str) -> list[Block]:
        return blocks_of_root(self._app.view.timeline.blocks, root)

    def _open_turns(self, root: str) -> list[TurnBlock]:
        return [turn for turn in self._app.view.open_turns if turn.root_id == root]

    def _step(self, step: int) -> None:
        blocks = self._blocks(self._marked_root())
        if not blocks:
            self._app.tell(NOT_MARKED)
            return
        ids = [block.block_id for block in blocks]
        marked = self._app.room.timeline.current_block_id or ""
        first = next((n for n, block in enumerate(blocks) if thread_of(block)), 0)
        index = (ids.index(marked) if marked in ids else first - (step > 0)) + step
        if not 0 <= index < len(ids):
            self._app.tell("That was the last part." if step > 0 else "That was the first part.")
            return
        self._go(ids[index])

    def _go(self, block_id: str) -> None:
        self._app.room.timeline.focus()
        if not self._app.room.timeline.jump_to(block_id):
            self._app.tell("That part is not loaded any more.")

    def _confirm(self, turns: list[TurnBlock]) -> None:
        names = [turn.author.name for turn in turns]
        shown = ", ".join(dict.fromkeys(names[:MAX_NAMED]))
        text = f"{len(turns)} turns are open: {shown}. What they have said so far stays."

        def answered(yes: bool | None) -> None:
            if yes:
                self._stop(turns)

        title = "Stop everything that this message led to?"
        self._app.push_screen(Confirm(self._app.keymap, title, text, "stop all of it"), answered)

    def _stop(self, turns: list[TurnBlock]) -> None:
        self._app.attempt(self._app.session.cancel_root(turns[0].root_id), self._stopped)

    def _stopped(self, reply: RootCancelled) -> None:
        accepted = sum(turn.accepted for turn in reply.turns)
        if not accepted:
            self._app.tell("All of it had ended already.")
        else:
            count = "One turn is" if accepted == 1 else f"{accepted} turns are"
            self._app.tell(f"{count} stopped, or asked to stop.")


def _choice(branch: Branch) -> Choice:
    """One line of the tree."""
    block = branch.block
    mark = f"{'  ' * (branch.depth - 1)}└ " if branch.depth else ""
    if isinstance(block, TurnBlock):
        said = safe_line(str(block.text)[: EXCERPT_CHARS * 2], EXCERPT_CHARS)
        state = PHASE_WORDS.get(block.phase, block.phase).partition(":")[0]
        about = f"{state}: {said or block.error_message or ''}".rstrip(": ")
        return Choice(block.block_id, f"{mark}{block.author.name}", about, _took(block))
    to = f" → {', '.join(block.to)}" if block.to else ""
    said = safe_line(block.text[: EXCERPT_CHARS * 2], EXCERPT_CHARS)
    return Choice(block.block_id, f"{mark}{block.author.name}{to}", f"“{said}”")


def _took(turn: TurnBlock) -> str:
    if turn.duration_ms is not None:
        return words.duration(turn.duration_ms / 1000)
    took = words.between(turn.started_at or turn.queued_at, turn.ended_at)
    return "" if took is None else words.duration(took)
