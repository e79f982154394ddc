"""A fake ACP agent, run as a real child process. Standard library only.

What it does in a turn is chosen by markers in the prompt, several may follow each other:

    [[say TEXT]]        stream TEXT (a prompt without a marker is answered by "echo: <prompt>")
    [[think TEXT]]      stream reasoning          [[plan]]        send a plan
    [[tool TITLE]]      a whole tool call         [[open-tool]]   a tool call that never ends
    [[ask TITLE]]       ask for a permission and wait for the answer
    [[request METHOD]]  send another request and wait for the answer
    [[silent]]          say nothing until cancelled
    [[hang]]            say nothing and ignore the cancel
    [[flood]]           stream for ever and ignore the cancel
    [[burst N]]         stream N chunks           [[big N]]       one line of N bytes
    [[parts N SIZE]]    stream N chunks of SIZE   [[pace N HZ]]   so many a second, some marked
    [[tool-output N]]   a tool call with N bytes of output
    [[garbage N]]       N lines that are no JSON  [[array]]       a JSON line that is an array
    [[stderr N]]        N bytes on stderr         [[env NAME]]    say the value of a variable
    [[child]]           start a grandchild that lives for ever and say its pid
    [[exit N]]          exit at once              [[kill]]        die by SIGKILL
    [[then-exit N]]     exit right after the answer
    [[pester N]]        N requests whose answers are never read
    [[close]]           close stdout and live on  [[mcp]]         say what mcpServers were given
    [[mcp-ask B,C TEXT]]  ask agents with the room's tools and say what each answered
    [[mcp-call TOOL K=V;content=TEXT]]  call a tool of the room and say its JSON
    [[empty]]           say nothing and end       [[late TEXT]]   say TEXT after the answer
    [[stop REASON]]     end with this stopReason  [[error CODE TEXT]]  answer with an error
    [[break-on-cancel]] wait; on cancel answer with an error

In a TEXT for another agent, ((say hi)) becomes [[say hi]] when it is sent, and {{say hi}} becomes
((say hi)), for the one behind that.

Options (argv): --no-load --no-resume --late-replay --modes=a,b --init-hang --init-exit=N
--init-text=TEXT --init-error=CODE --version=N --new-error=CODE --ignore-eof --ignore-term
--start-child --start-stray (in a session of its own) --http-mcp --resume-hang
--other-session-on-resume.

Environment: SCRIPTED_LOG names a file that gets one JSON line for each start, prompt, cancel and
session call, so that a test can prove what was sent, and how often. SCRIPTED_SESSIONS names a
folder in which sessions survive the process.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # it is run as a program

from support.scripted_lines import WAIT_S, Tools, Wire

MARKER = re.compile(r"\[\[([a-z-]+)(?: ([^\]]*))?\]\]")
WRITING = "You write "  # so begins what asks for a summary or a day's notes
MARKS, MARK_EVERY = 0x561, 100
PACED = (
    "plain words ",
    "and some **bold** ",
    "`code` ",
    "more of it. ",
    "\n\n## Part\n\n",
    "- one\n",
)
CHILD = [sys.executable, "-c", "import signal; signal.pause()"]


def current_message(text: str) -> str:
    """The message of a GroupX context packet; other text is taken whole. Without this, markers of
    earlier messages in the packet would be played again; so would those of a room that is to be
    summed up."""
    if text.startswith(WRITING):
        return ""
    start = text.rfind("[current_message fence=")
    return text if start < 0 else text[start:]


def for_another(text: str) -> str:
    """Markers for the agent that gets the text."""
    for inner, outer in (("((", "[["), ("))", "]]"), ("{{", "(("), ("}}", "))")):
        text = text.replace(inner, outer)
    return text


class Turn:
    """One prompt, run in a thread of its own."""

    def __init__(self, agent: Agent, session: str, request_id: Any, text: str) -> None:
        self.agent = agent
        self.wire = agent.wire
        self.session = session
        self.request_id = request_id
        self.text = text
        self.cancelled = threading.Event()
        self.result: dict[str, Any] | None = {"result": {"stopReason": "end_turn"}}
        self.late = ""
        self.calls = 0
        self.exit_status: int | None = None

    def run(self) -> None:
        markers = MARKER.findall(current_message(self.text))
        if not markers:
            self.say(f"echo: {self.text}")
        for name, argument in markers:
            getattr(self, "do_" + name.replace("-", "_"))(argument)
        if self.result is not None:
            self.agent.turns.pop(self.session, None)
            self.wire.send({"id": self.request_id, **self.result})
            if self.late:
                self.say(self.late)
            if self.exit_status is not None:
                os._exit(self.exit_status)

    def say(self, text: str, kind: str = "agent_message_chunk") -> None:
        content = {"type": "text", "text": text}
        self.wire.update(self.session, sessionUpdate=kind, content=content)

    def until_cancelled(self) -> None:
        self.cancelled.wait(WAIT_S)
        self.result = {"result": {"stopReason": "cancelled"}}

    def do_say(self, text: str) -> None:
        self.say(text)

    def do_think(self, text: str) -> None:
        self.say(text, "agent_thought_chunk")

    def do_plan(self, _: str) -> None:
        entries = [{"content": "first", "priority": "high", "status": "pending"}]
        self.wire.update(self.session, sessionUpdate="plan", entries=entries)

    def do_tool(self, title: str) -> None:
        call = f"call-{uuid.uuid4().hex[:6]}"
        self.wire.update(
            self.session, sessionUpdate="tool_call", toolCallId=call, title=title, kind="execute"
        )
        content = [{"type": "content", "content": {"type": "text", "text": f"{title}: done"}}]
        self.wire.update(
            self.session,
            sessionUpdate="tool_call_update",
            toolCallId=call,
            status="completed",
            content=content,
        )

    def do_open_tool(self, title: str) -> None:
        self.wire.update(
            self.session, sessionUpdate="tool_call", toolCallId="open", title=title or "build"
        )

    def do_ask(self, title: str) -> None:
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
        call = {"toolCallId": "asked", "title": title, "kind": "edit"}
        params = {"sessionId": self.session, "toolCall": call, "options": options}
        self.agent.log("permission", answer=self.wire.ask("session/request_permission", params))

    def do_request(self, method: str) -> None:
        self.agent.log("reply", answer=self.wire.ask(method, {"sessionId": self.session}))

    def do_silent(self, _: str) -> None:
        self.until_cancelled()

    def do_hang(self, _: str) -> None:
        self.result = None
        threading.Event().wait(WAIT_S)

    def do_flood(self, _: str) -> None:
        self.result = None
        while True:
            self.say("and on ")

    def do_burst(self, count: str) -> None:
        for number in range(int(count)):
            self.say(f"{number} ")

    def do_big(self, size: str) -> None:
        self.say("x" * int(size))

    def do_parts(self, argument: str) -> None:
        count, size = map(int, argument.split())
        for _ in range(count):
            self.say("word " * (size // 5))

    def do_pace(self, argument: str) -> None:
        """A mark is a letter that occurs nowhere else; the log says when it was sent."""
        count, rate = map(int, argument.split())
        start = time.monotonic()
        for number in range(count):
            time.sleep(max(0.0, start + number / rate - time.monotonic()))
            mark = chr(MARKS + number // MARK_EVERY) if number % MARK_EVERY == 50 else ""
            if mark:
                self.agent.log("mark", letter=mark, at=time.monotonic())
            self.say(PACED[number % len(PACED)] + mark)

    def do_tool_output(self, size: str) -> None:
        content = [{"type": "content", "content": {"type": "text", "text": "y" * int(size)}}]
        update = {"sessionUpdate": "tool_call", "toolCallId": "huge", "title": "cat"}
        self.wire.update(self.session, **update, status="completed", content=content)

    def do_garbage(self, count: str) -> None:
        self.wire.raw(b"this is \x1b[31mnot\xff json\n" * int(count or 1))

    def do_array(self, _: str) -> None:
        self.wire.raw(b"[1,2,3]\n")

    def do_stderr(self, size: str) -> None:
        line = b"\x1b[31mwarning\x1b[0m " + b"e" * 80 + b"\n"
        for _ in range(int(size) // len(line) + 1):
            sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()

    def do_env(self, name: str) -> None:
        self.say(os.environ.get(name, "(not set)"))

    def do_child(self, _: str) -> None:
        self.say(str(subprocess.Popen(CHILD).pid))

    def do_exit(self, status: str) -> None:
        sys.stderr.write("fatal: the script says so\n")
        sys.stderr.flush()
        os._exit(int(status))

    def do_then_exit(self, status: str) -> None:
        self.exit_status = int(status)

    def do_pester(self, count: str) -> None:
        self.agent.is_deaf.set()
        params = {"sessionId": self.session}
        for number in range(int(count)):
            self.wire.send({"id": f"deaf-{number}", "method": "x/" + "y" * 60, "params": params})
        self.do_hang("")

    def do_kill(self, _: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def do_close(self, _: str) -> None:
        self.result = None
        os.close(1)

    def do_mcp(self, _: str) -> None:
        self.say(json.dumps(self.agent.mcp.get(self.session)))

    def do_mcp_ask(self, argument: str) -> None:
        names, _, text = argument.partition(" ")
        answer = self.tool("ask", to=names.split(","), content=for_another(text))
        if "code" in answer:
            self.say(answer["code"])
            return
        told = [f"{r['target']}: {r.get('content') or r['status']}" for r in answer["results"]]
        self.say(" | ".join(told))

    def do_mcp_call(self, argument: str) -> None:
        name, _, rest = argument.partition(" ")
        pairs, _, content = rest.partition("content=")  # the last one; it may hold anything
        given: dict[str, Any] = {"content": for_another(content)} if content else {}
        for pair in filter(None, pairs.split(";")):
            key, _, value = pair.partition("=")
            given[key] = int(value) if value.isdigit() else value
        if "to" in given:
            given["to"] = given["to"].split(",")
        self.say(json.dumps(self.tool(name, **given)))

    def tool(self, name: str, **given: Any) -> dict[str, Any]:
        """Call a tool of the room; the log gets what it gave back."""
        server = next(s for s in self.agent.mcp[self.session] if s["name"] == "groupx")
        if "content" in given:
            self.calls += 1
            given["clientCommandId"] = str(self.calls)
        answer = Tools(server).call(name, given)
        self.agent.log("tool", name=name, answer=answer)
        return answer

    def do_empty(self, _: str) -> None:
        pass

    def do_late(self, text: str) -> None:
        self.late = text

    def do_stop(self, reason: str) -> None:
        self.result = {"result": {"stopReason": reason}}

    def do_error(self, argument: str) -> None:
        code, _, text = argument.partition(" ")
        self.result = {"error": {"code": int(code), "message": text}}

    def do_break_on_cancel(self, _: str) -> None:
        self.cancelled.wait(WAIT_S)
        self.result = {"error": {"code": -32603, "message": "NoneType has no attribute"}}


class Agent:
    """The protocol side: reads stdin until it ends."""

    def __init__(self, options: dict[str, str]) -> None:
        self.options = options
        self.wire = Wire()
        self.turns: dict[str, Turn] = {}
        self.mcp: dict[str, Any] = {}
        self.purposes: dict[str, str | None] = {}
        self.is_deaf = threading.Event()
        folder = os.environ.get("SCRIPTED_SESSIONS")
        self.folder = Path(folder) if folder else None
        self.log("start", pid=os.getpid(), argv=sys.argv[1:])

    def log(self, what: str, **fields: Any) -> None:
        path = os.environ.get("SCRIPTED_LOG")
        if path:
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"what": what, **fields}) + "\n")

    def serve(self) -> None:
        for line in sys.stdin.buffer:
            if self.is_deaf.is_set():
                threading.Event().wait(WAIT_S)
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "method" not in message:
                self.wire.answered(message)
                continue
            handler = getattr(self, "on_" + message["method"].replace("/", "_"), None)
            params = message.get("params") or {}
            if handler is not None:
                answer = handler(message.get("id"), params)
            else:
                answer = {"error": {"code": -32601, "message": "Method not found"}}
            if answer is not None and "id" in message:
                self.wire.send({"id": message["id"], **answer})

    def on_initialize(self, _: Any, params: dict[str, Any]) -> dict[str, Any] | None:
        self.log("initialize", params=params)
        if "init-text" in self.options:
            self.wire.raw(self.options["init-text"].encode() + b"\n")
        if "init-exit" in self.options:
            sys.stderr.write("cannot start: no such model\n")
            sys.stderr.flush()
            os._exit(int(self.options["init-exit"]))
        if "init-hang" in self.options:
            return None
        if "init-error" in self.options:
            code = int(self.options["init-error"])
            return {"error": {"code": code, "message": "Authentication required"}}
        sessions: dict[str, Any] = {} if "no-resume" in self.options else {"resume": {}}
        return {
            "result": {
                "protocolVersion": int(self.options.get("version", "1")),
                "agentInfo": {"name": "scripted", "version": "1.2.3"},
                "agentCapabilities": {
                    "loadSession": "no-load" not in self.options,
                    "mcpCapabilities": {"http": "http-mcp" in self.options},
                    "sessionCapabilities": {**sessions, "close": {}},
                },
                "authMethods": [{"id": "key", "name": "An API key"}],
            }
        }

    def on_session_new(self, _: Any, params: dict[str, Any]) -> dict[str, Any]:
        self.log("session/new", params=params)
        if "new-error" in self.options:
            code = int(self.options["new-error"])
            return {"error": {"code": code, "message": "Authentication required"}}
        session = f"session-{uuid.uuid4().hex[:8]}"
        self.mcp[session] = params.get("mcpServers")
        told = (params.get("_meta") or {}).get("groupx") or {}
        self.purposes[session] = told.get("purpose")
        self.remember(session, "")
        self.wire.update(session, sessionUpdate="available_commands_update", availableCommands=[])
        return {"result": {"sessionId": session, **self.modes()}}

    def on_session_load(self, request_id: Any, params: dict[str, Any]) -> dict[str, Any] | None:
        self.log("session/load", params=params)
        session = params["sessionId"]
        history = self.history(session)
        if history is None:
            return {"error": {"code": -32002, "message": "Resource not found"}}
        if "late-replay" in self.options:
            self.wire.send({"id": request_id, "result": self.modes()})
        for text in history:
            content = {"type": "text", "text": text}
            self.wire.update(session, sessionUpdate="user_message_chunk", content=content)
            content = {"type": "text", "text": f"echo: {text}"}
            self.wire.update(session, sessionUpdate="agent_message_chunk", content=content)
        self.mcp[session] = params.get("mcpServers")
        return None if "late-replay" in self.options else {"result": self.modes()}

    def on_session_resume(self, _: Any, params: dict[str, Any]) -> dict[str, Any] | None:
        self.log("session/resume", params=params)
        if "resume-hang" in self.options:
            return None
        if "no-resume" in self.options:
            return {"error": {"code": -32601, "message": "Method not found"}}
        if "other-session-on-resume" in self.options:
            return {"result": {"_meta": {"real": "another"}, **self.modes()}}
        if self.history(params["sessionId"]) is None:
            return {"error": {"code": -32002, "message": "Resource not found"}}
        self.mcp[params["sessionId"]] = params.get("mcpServers")
        return {"result": self.modes()}

    def on_session_set_mode(self, _: Any, params: dict[str, Any]) -> dict[str, Any]:
        self.log("session/set_mode", params=params)
        if params["modeId"] == "forbidden":
            return {"error": {"code": -32602, "message": "Invalid params: not for you"}}
        return {"result": {}}

    def on_session_set_config_option(self, _: Any, params: dict[str, Any]) -> dict[str, Any]:
        self.log("session/set_config_option", params=params)
        return {"result": {"configOptions": []}}

    def on_session_close(self, _: Any, params: dict[str, Any]) -> dict[str, Any]:
        self.log("session/close", params=params)
        return {"result": {}}

    def on_session_prompt(self, request_id: Any, params: dict[str, Any]) -> None:
        session, text = params["sessionId"], params["prompt"][0]["text"]
        purpose = self.purposes.get(session)
        if purpose is not None:  # a text for the server; what it quotes is not played
            self.log("writing", purpose=purpose, chars=len(text))
            end = text.rpartition("\n")[2].rpartition(": ")[2]  # the line that it shall end with
            self.wire.update(
                session,
                sessionUpdate="agent_message_chunk",
                content={"type": "text", "text": f"- {purpose}\n{end}"},
            )
            self.wire.send({"id": request_id, "result": {"stopReason": "end_turn"}})
            return
        self.log("prompt", session=session, text=text)
        self.remember(session, text)
        turn = self.turns[session] = Turn(self, session, request_id, text)
        threading.Thread(target=turn.run, daemon=True).start()

    def on_session_cancel(self, _: Any, params: dict[str, Any]) -> None:
        self.log("cancel", session=params["sessionId"])
        if turn := self.turns.get(params["sessionId"]):
            turn.cancelled.set()

    def modes(self) -> dict[str, Any]:
        if "modes" not in self.options:
            return {}
        names = self.options["modes"].split(",")
        modes = [{"id": name, "name": name} for name in names]
        return {"modes": {"currentModeId": names[0], "availableModes": modes}}

    def remember(self, session: str, text: str) -> None:
        if self.folder is not None:
            with (self.folder / session).open("a", encoding="utf-8") as file:
                file.write(text.replace("\n", " ") + "\n" if text else "")

    def history(self, session: str) -> list[str] | None:
        if self.folder is None or not (self.folder / session).is_file():
            return None
        return (self.folder / session).read_text("utf-8").splitlines()


def main() -> None:
    options = dict(part.removeprefix("--").partition("=")[::2] for part in sys.argv[1:])
    if "ignore-term" in options:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    agent = Agent(options)
    if "start-child" in options:
        agent.log("child", pid=subprocess.Popen(CHILD).pid)
    if "start-stray" in options:
        agent.log("child", pid=subprocess.Popen(CHILD, start_new_session=True).pid)
    agent.serve()
    if "ignore-eof" in options:
        threading.Event().wait(WAIT_S)


if __name__ == "__main__":
    main()
