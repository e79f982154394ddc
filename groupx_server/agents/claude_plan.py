"""Claude Code's to-do list, whole each time.

Owns the entries of one session: they outlive a turn. Claude Code keeps them with tools of its own,
`TodoWrite` (the whole list) or `TaskCreate` and `TaskUpdate` (one entry), by version. A change
counts when its call succeeded. The counterpart is `claude_calls.py`, which hands the calls over.
"""

from __future__ import annotations

from typing import Any, Final

from groupx_server.agents.loose import as_dict, as_list, as_text

PLAN_TOOLS: Final = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList"})
MAX_ENTRIES: Final = 200

Entries = tuple[dict[str, str], ...]


class PlanBook:
    """The entries of a session, in the order they were made."""

    def __init__(self) -> None:
        self._entries: dict[str, dict[str, str]] = {}

    def apply(self, name: str, given: dict[str, Any], result: Any) -> Entries | None:
        """Take a call that succeeded; the whole list when it changed, else None."""
        before = dict(self._entries)
        match name:
            case "TodoWrite":
                todos = [as_dict(todo) for todo in as_list(given.get("todos"))[:MAX_ENTRIES]]
                self._entries = {str(number): _entry(todo) for number, todo in enumerate(todos)}
            case "TaskCreate":
                self._create(given, as_dict(as_dict(result).get("task")))
            case "TaskUpdate":
                self._update(given)
        return None if self._entries == before else tuple(self._entries.values())

    def _create(self, given: dict[str, Any], task: dict[str, Any]) -> None:
        task_id = as_text(task.get("id"))
        if task_id and len(self._entries) < MAX_ENTRIES:
            self._entries[task_id] = _entry({"content": given.get("subject")})

    def _update(self, given: dict[str, Any]) -> None:
        task_id = as_text(given.get("taskId"))
        known = self._entries.get(task_id)
        if known is None:
            return
        if given.get("status") == "deleted":
            del self._entries[task_id]
            return
        content = as_text(given.get("subject")) or known["content"]
        status = as_text(given.get("status")) or known["status"]
        self._entries[task_id] = {**known, "content": content, "status": status}


def _entry(todo: dict[str, Any]) -> dict[str, str]:
    return {
        "content": as_text(todo.get("content")),
        "priority": as_text(todo.get("priority")) or "medium",
        "status": as_text(todo.get("status")) or "pending",
    }
