"""Reports of agents in lines for people. Pure."""

from __future__ import annotations

from typing import Any, Final

from groupx_shared.agentstatus import status_word

Report = dict[str, Any]
LEVELS: Final = {
    "ready": "ok",
    "found": "ok",
    "disabled": "ok",
    "needs_login": "warning",
    "rate_limited": "warning",
    "failed": "warning",
}
STATE_WORDS: Final = {"found": "is here", "ready": "answers", "disabled": "is switched off"}


def level_of(report: Report) -> str:
    """ok, warning, or absent: a known program that is not here and that nobody asked for."""
    if report["state"] == "absent":
        return "warning" if report["configured"] else "absent"
    return LEVELS.get(report["state"], "warning")


def line_of(report: Report) -> str:
    """One line: what it is, how it is, what to do.

    `Kimi Code 2.1.0 answers (start 1.2 s, session 0.3 s); /usr/local/bin/kimi`
    """
    name = " ".join(filter(None, [report["name"], report.get("version")]))
    if report["state"] == "absent":
        return f"{report['name']} is not here. {report.get('advice') or ''}".strip()
    words = STATE_WORDS.get(report["state"], status_word(report["state"]))
    where, times = report.get("program"), times_of(report)
    sentences = [report.get("problem"), report.get("advice")]
    if report.get("unverified"):
        sentences.append("Never seen running with GroupX; its settings are from its documentation.")
    told = " ".join(sentence for sentence in sentences if sentence)
    if report["state"] not in STATE_WORDS:
        return f"{name}: {words}. {told}".strip()
    head = f"{name} {words}{f' ({times})' if times else ''}{f'; {where}' if where else ''}"
    return f"{head}. {told}" if told else head


def times_of(report: Report) -> str:
    """`start 1.2 s, session 0.3 s`."""
    names = {
        "startS": "start",
        "sessionS": "session",
        "firstEventS": "first sign",
        "turnS": "answer",
        "stopS": "stop",
    }
    told = [f"{word} {report[key]:.1f} s" for key, word in names.items() if key in report]
    return ", ".join(told)
