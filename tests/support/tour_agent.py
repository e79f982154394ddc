"""An agent for the pictures of docs/tour: the scripted one, told by plain sentences what to do.

A message that holds one of the sentences below plays what stands beside it. Counterpart:
`make_tour`, which writes the messages.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from support import scripted_agent

TABLE: Final = """\
Three places read lines; **one** of them drops the last one:

| file | reads | bound |
|---|---|---:|
| client/chunked.py | chunks | 64 KB |
| plain/typed.py | lines | 1 MB |
| src/parser.py | lines | none |

```python
def close(self) -> str:
    # what is left when there is no newline at the end
    return self._rest
```
"""
SCRIPTS: Final = {
    "Where is the last line lost": (
        "[[think The reader keeps what comes after the last newline. Look at who closes it.]]"
        f"[[tool Read src/parser.py]][[tool Run pytest tests/test_parser.py]][[say {TABLE}]]"
    ),
    "Is that covered by a test": (
        "[[mcp-ask tester,reviewer Which test would have found the lost last line?]]"
        "[[say **No.** The tester found none: every file in the tests ends with a newline. "
        "The reviewer wants one before the fix.]]"
    ),
    "Rename the reader": (
        "[[think Callers import the old name. It can stay as an alias.]]"
        "[[tool Edit src/parser.py]]"
        "[[say `parse` becomes `read`. The public names stay. ]][[silent]]"
    ),
    "Rewrite the parser": "[[say I begin with the lexer: its buffer must be emptied. ]][[silent]]",
}
ALWAYS: Final = {
    "tester": (
        "[[tool Search tests for “newline”]][[say None: every file there ends with a newline.]]"
    ),
    "reviewer": "[[say None that I know. Write it first, then mend the parser.]]",
}


BRIEF: Final = "does the API stay"
WATCHING: Final = (
    "[[think The diff renames a public function.]]"
    "[[say `parse` is imported by three callers: keep the old name too.]][[silent]]"
)


def script_of(text: str) -> str:
    """What a prompt asks for: what its agent always says, else the script of the first sentence
    that its message holds."""
    message = message_of(text)
    if BRIEF in message:
        return WATCHING
    told = (script for agent, script in ALWAYS.items() if f"target=agent:{agent}" in text)
    asked = (script for words, script in SCRIPTS.items() if words in message)
    return next(told, "") or next(asked, "[[say Done.]]")


class Quiet(scripted_agent.Turn):
    """Asks others without repeating what they say."""

    def do_mcp_ask(self, argument: str) -> None:
        names, _, text = argument.partition(" ")
        self.tool("ask", to=names.split(","), content=text)


message_of = scripted_agent.current_message

if __name__ == "__main__":
    scripted_agent.Turn = Quiet  # type: ignore[misc]
    scripted_agent.current_message = script_of
    scripted_agent.main()
