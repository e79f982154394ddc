"""Makes the pictures of docs/tour from the real program: `python tests/support/make_tour.py`.

A server of its own in a folder of its own, the window as `groupx` builds it, keys as a person
presses them. Run it after a change that people see, look at the pictures, and commit them.
Counterpart: docs/TOUR.md, which shows each picture (a test holds them together).
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from textual import events
from textual.pilot import Pilot

from groupx_shared.workspace import find_workspace
from groupx_tui.app import GroupXApp
from groupx_tui.opening import build_app
from support.browser import open_page

TOUR: Final = Path(__file__).parents[2] / "docs" / "tour"
SIZE: Final = (110, 30)
PATIENCE_S: Final = 60.0
LOOK_EVERY_S: Final = 0.05
BROWSER_SIZE: Final = (1000, 640)
SETTLE_S: Final = 5.0
"""A terminal in a page cannot be asked what it has drawn."""
AGENT: Final = Path(__file__).with_name("tour_agent.py")
PLACE: Final = Path(tempfile.gettempdir()) / "groupx-tour"
"""Always the same folder: it is seen in the pictures."""
PROGRAM: Final = PLACE / "project" / "bin" / "agent"
ACP: Final[dict[str, Any]] = {"driver": "acp", "command": {"executable": str(PROGRAM)}}
CONFIG: Final[dict[str, Any]] = {
    "agents": {
        "guide": {"driver": "builtin", "name": "Guide"},
        "writer": {**ACP, "name": "Writer"},
        "tester": {**ACP, "name": "Tester"},
        "reviewer": {**ACP, "name": "Reviewer"},
    },
    "defaultAgent": "guide",
}
FILES: Final = ("src/parser.py", "src/lexer.py", "docs/parsing.md", "tests/test_parser.py")


@dataclass
class Tour:
    """One walk through the program."""

    app: GroupXApp
    pilot: Pilot[int]

    async def press(self, *keys: str) -> None:
        """Press keys."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def write(self, text: str) -> None:
        """Put a text into the composer."""
        self.app.room.composer.replace_all(text)
        self.app.room.composer.editor.focus()
        await self.pilot.pause()

    async def send(self, text: str) -> None:
        """Write a message and send it."""
        await self.write(text)
        await self.press("enter")

    async def until(self, text: str) -> None:
        """Wait until a text is on the screen."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while text not in self.screen():
                    await self.pilot.pause(LOOK_EVERY_S)
        except TimeoutError:
            raise AssertionError(f"never: {text}\n{self.screen()}") from None
        await self.pilot.pause()

    def screen(self) -> str:
        """What is on the screen."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in strips)

    def picture(self, name: str) -> None:
        """Write the screen as a picture."""
        svg = without_fonts(self.app.export_screenshot(title="GroupX"))
        (TOUR / f"{name}.svg").write_text(svg, "utf-8")


def without_fonts(svg: str) -> str:
    """Nothing that is loaded from somewhere else, and no blank ends of lines."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code", "ui-monospace, monospace")
    return "\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n"


async def walk(tour: Tour) -> None:
    """The tour, picture by picture."""
    await tour.until("live")
    tour.picture("01-first-start")
    await tour.send("What can you do here?")
    await tour.until("answered")
    tour.picture("02-first-answer")
    await show_writing(tour)
    await show_answers(tour)
    await show_exchange(tour)
    await show_turns(tour)
    await show_finding(tour)
    await show_inside(tour)
    await show_looks(tour)


async def show_writing(tour: Tour) -> None:
    """Names, files and a folded paste."""
    await tour.write("@writer why does this fail? ")
    log = "".join(f"line {number}: expected 1, found 2\n" for number in range(1_234))
    tour.app.post_message(events.Paste(log))
    await tour.pilot.pause()
    await tour.press("space", "at", "p", "a", "r", "s")
    await tour.until("parsing.md")
    tour.picture("03-writing")
    await tour.press("escape", "ctrl+c")


async def show_answers(tour: Tour) -> None:
    """An answer with what it took: reasoning, tools, a table, code."""
    await tour.send("@writer Where is the last line lost?")
    await tour.until("return self._rest")
    await tour.until("answered")
    tour.picture("04-an-answer")


async def show_exchange(tour: Tour) -> None:
    """An agent asks two others: one line, opened, and as a tree."""
    await tour.send("@writer Is that covered by a test?")
    await tour.until("before the fix.")
    await tour.until("2 of 2 answered")
    tour.picture("05-agents-ask-agents")
    await tour.press("escape", "w")
    tour.picture("06-who-asked-whom")
    await tour.press("escape", "T", "end")
    tour.picture("07-opened")
    await tour.press("T", "end", "i")


async def show_turns(tour: Tour) -> None:
    """One agent works, another message waits for it; one is stopped."""
    await tour.send("@writer Rewrite the parser")
    await tour.until("I begin with the lexer")
    await tour.press("f8", *"reviewer", "enter", *"does the API stay?", "enter")
    await tour.write("@writer And then the tests ")
    tour.picture("08-an-agent-watches")
    await tour.press("escape", "escape", "i", "enter")
    await tour.until("takes it back")
    tour.picture("09-working-and-waiting")
    await tour.press("ctrl+g", "enter")
    await tour.until("C continue")
    tour.picture("10-retry-and-continue")
    await tour.press("ctrl+c")
    await show_watching(tour)


async def show_watching(tour: Tour) -> None:
    """Who works and who watches, side by side; a person says something to the one at work."""
    await tour.press("f8", *"reviewer", "enter", *"does the API stay?", "enter")
    await tour.send("@writer Rename the reader ")
    await tour.until("The public names stay")
    await tour.press("alt+w")
    await tour.until("watches: Reviewer")
    await tour.until("imported by three callers")
    tour.picture("11-who-watches-whom")
    await tour.press("escape", "ctrl+g", "up", "enter")
    await tour.until("Reviewer · cancelled")


async def show_finding(tour: Tour) -> None:
    """Words in the room, and everything by a few letters."""
    await tour.press("escape", "slash", *"last line", "enter")
    await tour.until(" of ")
    tour.picture("12-searching")
    await tour.press("escape", "T", "T", "ctrl+p", *"room")
    tour.picture("13-everything-by-name")
    await tour.press("escape")


async def show_inside(tour: Tour) -> None:
    """What is remembered, what an agent would be told, an agent's card, settings."""
    await tour.press("escape", "f9", "f2", *"The parser keeps the last line", "enter")
    await tour.until("Memory · 1")
    await tour.press("f6")
    await tour.until("● note")
    await tour.press("f7", *", also without a newline", "enter")
    await tour.until("newline")
    tour.picture("14-memory")
    await tour.press("enter", "f4")
    await tour.until("How it came about")
    tour.picture("15-how-it-came-about")
    await tour.press("escape", "escape")
    await tour.write("@writer And the tests? ")
    await tour.press("f10")
    await tour.until("What fills it")
    tour.picture("16-what-an-agent-would-be-told")
    await tour.press("escape", "ctrl+c", "f3", *"writer", "f3")
    await tour.until("address")
    tour.picture("17-a-card")
    await tour.press("escape", "escape")
    await tour.send("/settings")
    await tour.until("Settings file")
    tour.picture("18-settings")
    await tour.press("escape")


async def show_looks(tour: Tour) -> None:
    """Another theme, on the help."""
    tour.app.theme = "groupx-light"
    await tour.press("f1")
    tour.picture("19-help-in-a-light-theme")
    await tour.press("escape")


async def make(folder: Path) -> None:
    """Walk through the program in a workspace in `folder`."""
    (folder / "groupx.json").write_text(json.dumps(CONFIG), "utf-8")
    PROGRAM.parent.mkdir()
    command = shlex.join([sys.executable, str(AGENT), "--http-mcp"])
    PROGRAM.write_text(f"#!/bin/sh\nexec {command}\n", "utf-8")
    PROGRAM.chmod(0o755)
    for name in FILES:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("")
    app = build_app(find_workspace(folder / "groupx.json"))
    async with app.run_test(size=SIZE) as pilot:
        await walk(Tour(app, pilot))
    await show_browser(folder)


async def show_browser(folder: Path) -> None:
    """The same room in a real browser."""
    words = [sys.executable, "-m", "groupx_tui.cli", "web", "--config", str(folder)]
    serving = subprocess.Popen(  # noqa: ASYNC220 - it returns at once
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    assert serving.stdout is not None
    try:
        link = (await asyncio.to_thread(serving.stdout.readline)).strip()
        async with open_page(PLACE / "profile", BROWSER_SIZE) as page:
            await page.go(link)
            await page.until("document.title.startsWith('GroupX ·')")
            await page.until("document.body.classList.contains('-first-byte')")
            await asyncio.sleep(SETTLE_S)
            shot = await page.call("Page.captureScreenshot", format="png")
            (TOUR / "20-in-a-browser.png").write_bytes(base64.b64decode(shot["data"]))
    finally:
        serving.send_signal(signal.SIGINT)
        serving.wait(PATIENCE_S)


def main() -> None:
    """Make all pictures."""
    TOUR.mkdir(parents=True, exist_ok=True)
    for old in TOUR.iterdir():
        old.unlink()
    shutil.rmtree(PLACE, ignore_errors=True)
    work = PLACE / "project"
    work.mkdir(parents=True, mode=0o700)
    os.environ["GROUPX_HOME"] = str(PLACE / "home")
    os.environ["TZ"] = "UTC"
    os.environ.pop("NO_COLOR", None)
    try:
        asyncio.run(make(work))
    finally:
        from groupx_tui.cli.main import main as groupx

        groupx(["--config", str(work / "groupx.json"), "stop"])
        shutil.rmtree(PLACE, ignore_errors=True)


if __name__ == "__main__":
    main()
