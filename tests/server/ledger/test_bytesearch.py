"""A text that stands in a file is found, wherever it lies; what does not stand there is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groupx_server.ledger.bytesearch import (
    MAX_PROBES,
    files_with,
    probes_of,
    stands_in,
)


@given(before=st.integers(0, 40), cut=st.integers(1, 60))
def test_a_text_over_the_border_of_two_pieces_is_found(before: int, cut: int) -> None:
    data = b"." * before + b"the quetzalcoatlus key" + b"." * 30
    pieces = [(0, data[:cut]), (cut, data[cut:])]
    assert stands_in(probes_of(["the quetzalcoatlus key"]), pieces)
    assert not stands_in(probes_of(["the quetzalcoatlus kex"]), pieces)


@pytest.mark.parametrize("part", [0, 5_000, 36_000])
def test_any_part_of_a_long_text_gives_it_away(part: int) -> None:
    text = "".join(f"{number:06d}" for number in range(7_000))
    step = -(-len(text) // 16)
    start = -(-part // step) * step
    assert stands_in(probes_of([text]), [(0, text[start : start + 200].encode())])


def test_quotes_and_other_scripts_are_found_as_json_has_them(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b'{"content":"say \\"friend\\" \\n and enter"}')
    (tmp_path / "b").write_bytes("密码是小熊猫七七".encode())
    (tmp_path / "c").write_bytes(b"nothing")
    files = [tmp_path / name for name in "abcd"]
    assert files_with(probes_of(['say "friend" \n and enter']), files) == [tmp_path / "a"]
    assert files_with(probes_of(["密码是小熊猫七七"]), files) == [tmp_path / "b"]


def test_short_texts_are_not_looked_for_and_many_are_bounded() -> None:
    assert probes_of(["yes", "  a  "]) == ()
    assert len(probes_of(f"a long text with number {n}" for n in range(500))) == MAX_PROBES


@given(st.integers(1, 300))
@example(200)
def test_the_end_of_a_long_text_does_not_accuse_what_ends_alike(more: int) -> None:
    text = f"the vault code is {'quetzalcoatlus ' * 60}"[: 400 + more] + ' "done"'
    assert not stands_in(probes_of([text]), [(0, b'{"event": "done"} "done"')])
    assert stands_in(probes_of([text]), [(0, text[-200:].encode())])
