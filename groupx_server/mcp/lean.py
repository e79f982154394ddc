"""Loads parts of a package without the rest: its `__init__` is not run meanwhile.

The SDK's packages import all that they offer, of which a server of plain tools needs half: a second
framework for tools, an HTTP client, cryptography. Left out they save 12 MB and half of the time.
What is loaded so is the SDK's own code, unchanged; afterwards an ordinary import works as ever.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType


@contextmanager
def without_init(*packages: str) -> Iterator[None]:
    """Let modules below `packages` (outer ones first) be imported without running the packages.

    A package that is loaded already stays as it is. Raises: ModuleNotFoundError.
    """
    empty: list[str] = []
    try:
        for name in packages:
            if name not in sys.modules:
                sys.modules[name] = _empty(name)
                empty.append(name)
        yield
    finally:
        for name in empty:
            sys.modules.pop(name, None)


def _empty(name: str) -> ModuleType:
    spec = find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        raise ModuleNotFoundError(f"There is no package {name}.", name=name)
    package = ModuleType(name)
    package.__path__ = list(spec.submodule_search_locations)
    package.__spec__ = spec
    return package
