"""Function words: they are in every text and tell nothing about what a question is after.

Cut from queries while other words are left. The English ones that can mean nothing else are not
indexed at all: half of all words, and half of the index. Few words on purpose: articles, pronouns,
auxiliaries, question words (a longer list finds less).
"""

from __future__ import annotations

from typing import Final


def _set_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH: Final = _set_of(
    """
    a about all also am an and any are as at be because been being both but by can could did do
    does doing done ever for from had has have having he her here hers herself him himself his how
    i if in into is it its itself just may me might mine must my myself nor not of on or our ours
    ourselves s shall she should so some t than that the their theirs them themselves there these
    they this those to us was we were what whatever when where whether which while who whoever
    whom whose why will with would yet you your yours yourself yourselves d ll m o re ve don didn
    doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn
    """
)

CHINESE: Final = _set_of(
    """
    什么 怎么 怎样 么样 哪里 哪儿 哪个 哪些 哪天 哪位 多少 为什 是否 是不 不是 有没
    没有 是什 谁的 我们 你们 他们 她们 它们 咱们 这个 那个 这些 那些 这里 那里 这样
    那样 一个 一下 可以 是谁 吗 呢 吧 啊 的 了 是 在 和 与 及
    或 也 都 就 还 又 而 但 被 把 给 对 于 从 向 到
    之 其 这 那 谁 我 你 他 她 它 您 着 过 得 地 有
    请 问 为 因 所 以 个 么 什 哪 几
    """
)
"""Pairs of characters as they are indexed, and single ones."""

ALL: Final = ENGLISH | CHINESE

UNINDEXED: Final = ENGLISH - _set_of("can don d m may might mine must o re us will won")
"""What is looked for by reading texts: names, months, mines and tins are words like others."""
