"""The tour: every picture is shown, none is missing, none loads anything."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
SHOWN = re.findall(r"!\[[^\]]+\]\((tour/[^)]+)\)", (DOCS / "TOUR.md").read_text("utf-8"))


def test_the_page_shows_every_picture_once_in_order() -> None:
    made = sorted(f"tour/{path.name}" for path in (DOCS / "tour").iterdir())
    assert made == SHOWN


def test_no_picture_loads_anything() -> None:
    for name in (each for each in SHOWN if each.endswith(".svg")):
        svg = (DOCS / name).read_text("utf-8")
        assert not re.search(r"url\((?!#)|@import|<script|<image", svg), name
