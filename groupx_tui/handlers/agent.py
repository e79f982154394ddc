"""Agents: what each is doing, addressing one, starting one's program again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groupx_shared.agentstatus import status_text
from groupx_shared.names import unknown_name
from groupx_tui.handlers.inspect import CardHandlers
from groupx_tui.screens.chooser import Choice, Chooser, Use
from groupx_tui.state.model import AgentView, ClientView

if TYPE_CHECKING:
    from groupx_shared.wire.replies import RestartReply
    from groupx_tui.app import GroupXApp


class AgentHandlers:
    """`agent.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._cards = CardHandlers(app)

    def card(self, argument: str) -> None:
        """All that is known of `@agent`, else of a chosen one."""
        self._cards.card(argument)

    def list(self, argument: str) -> None:
        """Show all; Enter addresses one."""

        def done(actor_id: str | None) -> None:
            for agent in self._app.view.agents:
                if agent.actor_id == actor_id:
                    self.address(agent)

        self._choose("Agents", done)

    def restart(self, argument: str) -> None:
        """Start the program of `@agent`, or of a chosen one, again."""
        if not argument:
            self._choose("Restart which agent?", self._restart)
            return
        handle = argument.lstrip("@").lower()
        agents = {agent.handle.lower(): agent for agent in self._app.view.agents}
        if handle in agents:
            self._restart(agents[handle].actor_id)
        else:
            self._app.tell(unknown_name("agent", handle, agents), "warning")

    def address(self, agent: AgentView) -> None:
        """Put its `@handle` into the message."""
        self._app.room.composer.insert(f"@{agent.handle}")

    def _choose(self, title: str, done: object) -> None:
        def chosen(actor_id: str | None) -> None:
            if callable(done):
                done(actor_id)

        chooser = Chooser(
            self._app.keymap,
            title,
            _lines(self._app.view),
            empty="There is no such agent.",
            use=Use({"details": self._cards.show}, follows=_lines),
        )
        self._app.push_screen(chooser, chosen)

    def _restart(self, actor_id: str | None) -> None:
        if actor_id is not None:
            self._app.attempt(self._app.session.restart_agent(actor_id), self._asked)

    def _asked(self, reply: RestartReply) -> None:
        names = [agent.name for agent in self._app.view.agents if agent.actor_id == reply.actor_id]
        name = names[0] if names else reply.actor_id
        sentence = (
            f"{name} is being restarted." if reply.accepted else f"{name} cannot restart now."
        )
        self._app.tell(sentence)


def _lines(view: ClientView) -> list[Choice]:
    return [
        Choice(agent.actor_id, agent.name, _about(agent), status_text(agent.status, agent.until))
        for agent in view.agents
    ]


def _about(agent: AgentView) -> str:
    parts = [f"@{agent.handle}", agent.detail or ""]
    if agent.queued_turns:
        parts.append(f"{agent.queued_turns} waiting")
    return " · ".join(part for part in parts if part)
