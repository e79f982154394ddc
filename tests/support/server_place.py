"""Where a runtime file would say that the server is."""

from __future__ import annotations

from groupx_shared.runtime import RuntimeFile


class Place:
    """`find` is what a client is given; the test moves `runtime`."""

    def __init__(self, runtime: RuntimeFile | None) -> None:
        self.runtime = runtime

    def find(self) -> RuntimeFile | None:
        return self.runtime
