"""Runs `TARGET MODULE ARGUMENTS…` under the profiler, by CPU time, and writes TARGET at the end.

CPU time of the main thread, so that waiting costs nothing. For `bench.profiling`.
"""

from __future__ import annotations

import cProfile
import runpy
import sys
import time


def main() -> None:
    """Be the module."""
    target, module, *words = sys.argv[1:]
    sys.argv = [module, *words]
    profiler = cProfile.Profile(time.thread_time)
    profiler.enable()
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        profiler.disable()
        profiler.dump_stats(target)


if __name__ == "__main__":
    main()
