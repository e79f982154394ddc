"""Who may watch whom, and how often a turn may be steered."""

from __future__ import annotations

import pytest

from groupx_server.domain.supervision import check_pair, check_steers
from groupx_shared.errors import ErrorCode, RefusedError


@pytest.mark.parametrize(
    ("workers", "observers", "why"),
    [
        ([], ["agent:c"], "nobody to watch"),
        (["agent:b"], ["agent:c", "agent:b"], "agent:b would watch itself"),
        (["agent:b"], ["agent:a"], "agent:a ordered the watch"),
    ],
)
def test_a_pair_that_cannot_work_is_refused(
    workers: list[str], observers: list[str], why: str
) -> None:
    with pytest.raises(RefusedError, match=why) as refused:
        check_pair(workers, observers, "agent:a")
    assert refused.value.code is ErrorCode.SUPERVISION_PAIR_INVALID


def test_others_may_watch() -> None:
    check_pair(["agent:b"], ["agent:c"], "user:web")


def test_a_turn_is_steered_as_often_as_the_limit_says_and_not_once_more() -> None:
    check_steers(2, 3, "turn_1")
    with pytest.raises(RefusedError, match="steered 3 times") as refused:
        check_steers(3, 3, "turn_1")
    assert refused.value.code is ErrorCode.STEER_LIMIT_REACHED
    assert refused.value.details == {"limit": 3, "steerCount": 3}
