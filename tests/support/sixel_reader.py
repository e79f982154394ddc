"""Reads sixels as a terminal does, to see what was meant."""

from __future__ import annotations

import re
from itertools import product

Pixel = tuple[int, int]
Colour = tuple[int, int, int]
TOKEN = re.compile(r'#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)([?-~])|([?-~])|([$-])|"([\d;]+)')


def read_sixels(data: bytes) -> tuple[tuple[int, int], dict[Pixel, Colour]]:
    """Return the size that is claimed, and each pixel's colour in percent."""
    start, _, rest = data.decode("ascii").partition("q")
    assert start.startswith("\x1bP")
    assert rest.endswith("\x1b\\")
    palette: dict[int, Colour] = {}
    pixels: dict[Pixel, Colour] = {}
    size, column, row, colour, at = (0, 0), 0, 0, 0, 0
    body = rest[:-2]
    while at < len(body):
        token = TOKEN.match(body, at)
        assert token is not None, body[at : at + 20]
        at = token.end()
        number, red, green, blue, chosen, count, repeated, single, move, claim = token.groups()
        if number:
            palette[int(number)] = (int(red), int(green), int(blue))
        elif chosen:
            colour = int(chosen)
        elif claim:
            numbers = [int(each) for each in claim.split(";")]
            size = (numbers[2], numbers[3])
        elif move:
            column = 0
            row += 6 if move == "-" else 0
        else:
            bits, end = ord(repeated or single) - 63, column + int(count or 1)
            for x, bit in product(range(column, end), range(6)):
                if bits >> bit & 1:
                    pixels[x, row + bit] = palette[colour]
            column = end
    return size, pixels
