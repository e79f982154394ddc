"""The program that ends agents when the server is gone. Runs alone; imports only the stdlib.

Reads `add <pgid>` and `del <pgid>` lines from stdin. The end of stdin means that the server is
gone, however it died: every group still listed gets TERM, at most two seconds, then KILL. It
ignores the signals that a terminal or a service manager sends to everybody at once, since it must
outlive the server by those two seconds. The other half is `watchdog.py`.
"""

import os
import signal
import time

TERM_WAIT_S = 2.0
POLL_S = 0.05


def signal_group(pgid: int, number: int) -> bool:
    """Send a signal to a group; False when nobody is left in it."""
    try:
        os.killpg(pgid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def end_groups(groups: set[int]) -> None:
    """TERM, wait, KILL."""
    left = {pgid for pgid in groups if signal_group(pgid, signal.SIGTERM)}
    deadline = time.monotonic() + TERM_WAIT_S
    while left and time.monotonic() < deadline:
        time.sleep(POLL_S)
        left = {pgid for pgid in left if signal_group(pgid, 0)}
    for pgid in left:
        signal_group(pgid, signal.SIGKILL)


def read_groups() -> set[int]:
    """Follow the server's list until it goes away."""
    groups: set[int] = set()
    rest = b""
    while chunk := os.read(0, 65536):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            word, _, number = line.partition(b" ")
            if not number.isdigit() or int(number) <= 1:
                continue
            if word == b"add":
                groups.add(int(number))
            elif word == b"del":
                groups.discard(int(number))
    return groups


def main() -> None:
    """Ignore the signals, follow the list, end what is left."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    end_groups(read_groups())


if __name__ == "__main__":
    main()
