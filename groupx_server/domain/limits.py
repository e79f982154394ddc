"""Limits on what one message may set in motion, checked before anything is written.

A refusal names the limit in `details.limitKind`, as its setting is called.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from groupx_shared.errors import ErrorCode, RefusedError


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of the workspace (settings `limits.*`)."""

    message_characters: int = 131_072
    queue_per_agent: int = 64
    root_turns: int = 48
    hop_count: int = 24
    actor_calls_per_root: int = 16
    ping_pong_calls: int = 6
    steers_per_subject_turn: int = 3
    tokens_per_root: int = 0
    """0: no budget."""
    context_characters: int = 256_000
    answer_characters: int = 131_072
    reasoning_characters: int = 65_536
    tool_characters: int = 32_768
    tools_per_turn: int = 500


def raised(limits: Limits, granted: int) -> Limits:
    """The limits of a root that a person let go on `granted` times: each time once more."""
    if not granted:
        return limits
    times = 1 + granted
    return replace(
        limits,
        root_turns=limits.root_turns * times,
        hop_count=limits.hop_count * times,
        actor_calls_per_root=limits.actor_calls_per_root * times,
        ping_pong_calls=limits.ping_pong_calls * times,
        tokens_per_root=limits.tokens_per_root * times,
    )


def check_root(limits: Limits, *, hop_count: int, root_turns: int, added: int) -> None:
    """Refuse a chain that is too long or a message that led to too many turns.

    Raises: RefusedError (HOP_LIMIT_REACHED, ROOT_TURN_LIMIT_REACHED).
    """
    if hop_count > limits.hop_count:
        raise RefusedError(
            f"This call would be number {hop_count} in a chain of agents calling agents; the "
            f"limit is {limits.hop_count} (limits.hopCount).",
            code=ErrorCode.HOP_LIMIT_REACHED,
            details={
                "limitKind": "hopCount",
                "limit": limits.hop_count,
                "hopCount": hop_count,
            },
        )
    if root_turns + added > limits.root_turns:
        raise RefusedError(
            f"One message may lead to {limits.root_turns} turns (limits.rootTurns); this one has "
            f"led to {root_turns} and would add {added}.",
            code=ErrorCode.ROOT_TURN_LIMIT_REACHED,
            details={"limitKind": "rootTurns", "limit": limits.root_turns, "turns": root_turns},
        )


def check_target(limits: Limits, actor_id: str, *, root_calls: int, open_turns: int) -> None:
    """Refuse a target called too often by one message, or whose queue is full.

    Raises: RefusedError (ROOT_TURN_LIMIT_REACHED, QUEUE_CAPACITY_REACHED).
    """
    if root_calls + 1 > limits.actor_calls_per_root:
        raise RefusedError(
            f"{actor_id} was called {root_calls} times by this message already; the limit is "
            f"{limits.actor_calls_per_root} (limits.actorCallsPerRoot).",
            code=ErrorCode.ROOT_TURN_LIMIT_REACHED,
            details={"limitKind": "actorCallsPerRoot", "limit": limits.actor_calls_per_root},
        )
    if open_turns + 1 > limits.queue_per_agent:
        raise RefusedError(
            f"{actor_id} has {open_turns} turns waiting or running; the limit is "
            f"{limits.queue_per_agent} (limits.queuePerAgent). Wait, or cancel some with "
            "“groupx turns cancel”.",
            code=ErrorCode.QUEUE_CAPACITY_REACHED,
            details={
                "limitKind": "queuePerAgent",
                "limit": limits.queue_per_agent,
                "openTurns": open_turns,
            },
        )


def check_ping_pong(limits: Limits, actor_id: str, target: str, calls: int) -> None:
    """Refuse two agents that only call each other, without a person in between.

    Raises: RefusedError (ROOT_TURN_LIMIT_REACHED).
    """
    if calls > limits.ping_pong_calls:
        raise RefusedError(
            f"{actor_id} and {target} called only each other {calls - 1} times in a row; the limit "
            f"is {limits.ping_pong_calls} (limits.pingPongCalls).",
            code=ErrorCode.ROOT_TURN_LIMIT_REACHED,
            details={"limitKind": "pingPongCalls", "limit": limits.ping_pong_calls},
        )


def check_budget(limits: Limits, tokens: int) -> None:
    """Refuse more work for a message that cost too much already.

    Raises: RefusedError (BUDGET_EXCEEDED).
    """
    if limits.tokens_per_root and tokens >= limits.tokens_per_root:
        raise RefusedError(
            f"This message has cost {tokens:,} tokens; its budget is {limits.tokens_per_root:,} "
            "(limits.tokensPerRoot). What was done is kept.",
            code=ErrorCode.BUDGET_EXCEEDED,
            details={
                "limitKind": "tokensPerRoot",
                "limit": limits.tokens_per_root,
                "tokens": tokens,
            },
        )
