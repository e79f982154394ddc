"""A fake Claude Code, run as a real child process. Standard library only.

What it does in a turn is chosen by markers in the message, several may follow each other:

    [[say TEXT]]        stream TEXT (a message without a marker is answered by "echo: <message>")
    [[whole TEXT]]      say TEXT without streaming it
    [[think TEXT]]      stream reasoning          [[tool NAME]]   a whole call of a tool
    [[open-tool]]       a call that never ends    [[todo TEXT]]   a plan of one entry
    [[ask SUBTYPE]]     ask something (can_use_tool, elicitation, …) and wait for the answer
    [[silent]]          say nothing until interrupted
    [[hang]]            say nothing and ignore the interrupt
    [[flood]]           stream for ever and ignore the interrupt
    [[burst N]]         stream N pieces           [[big N]]       one line of N bytes
    [[garbage N]]       N lines that are no JSON  [[array]]       a JSON line that is an array
    [[retry STATUS]]    a request to the model fails and is tried again
    [[broken TEXT]]     stream TEXT, break off, try again
    [[fail STATUS]]     end with an API error     [[empty]]       say nothing and end
    [[stop REASON]]     end with this stop_reason
    [[env NAME]]        say the value of a variable
    [[child]]           start a grandchild that lives for ever and say its pid
    [[daemon]]          the same in a session of its own
    [[exit N]]          exit at once              [[kill]]        die by SIGKILL
    [[then-exit N]]     exit right after the result
    [[then-own TEXT]]   after the result, a turn that nobody asked for says TEXT
    [[stray]]           a result that belongs to no turn, before anything else
    [[lose-interrupt]]  the next interrupt is answered and has no effect

Options, in SCRIPTED_OPTIONS, separated by blanks: version=TEXT version-hang init-hang init-exit=N
init-text=WORD mode=MODE refuse=CODE mcp=STATUS mcp-after=N old (no word of what becomes of a
message) mute-further (no word of a further message) ignore-eof ignore-term start-child
other-session other-cwd init-mode=MODE signed-out no-auth-command.

Environment: SCRIPTED_LOG names a file that gets one JSON line for each start, message, interrupt
and answer, so that a test can prove what was sent, and how often. SCRIPTED_SESSIONS names a folder
in which sessions survive the process.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # it is run as a program

from support.scripted_lines import WAIT_S, ControlWire

MARKER = re.compile(r"\[\[([a-z-]+)(?: ([^\]]*))?\]\]")
CHILD = [sys.executable, "-c", "import signal; signal.pause()"]
VERSION = "2.1.332 (Claude Code)"
QUESTIONS = ("can_use_tool", "elicitation", "request_user_dialog")  # an interrupt follows them
UNSPOKEN = ("empty", "stray", "lose-interrupt")
DEAF = ("hang", "flood", "lose-interrupt")
USAGE = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 2}


def current_message(text: str) -> str:
    """The message of a GroupX context packet; other text is taken whole. Without this, markers of
    earlier messages in the packet would be played again."""
    start = text.rfind("[current_message fence=")
    return text if start < 0 else text[start:]


class Turn:
    """One message, worked on in the worker's thread."""

    def __init__(self, program: Program, text: str, message_id: str | None) -> None:
        self.program = program
        self.wire = program.wire
        self.text = text
        self.message_id = message_id
        self.interrupted = threading.Event()
        self.by_message = False
        self.is_deaf = any(f"[[{name}]]" in current_message(text) for name in DEAF)
        self.end: dict[str, Any] = {"stop_reason": "end_turn", "terminal_reason": "completed"}
        self.said = ""
        self.after: list[tuple[str, str]] = []

    def run(self) -> None:
        markers = MARKER.findall(current_message(self.text))
        if "stray" in dict(markers):
            self.result(is_error=True, terminal_reason="aborted_streaming")
        self.program.lifecycle(self.message_id, "started")
        self.program.init()
        self.wire.send("system", subtype="status", status="requesting")
        if not markers:
            self.do_say(f"echo: {self.text}")
        for name, argument in markers:
            if self.interrupted.is_set():
                break
            if name not in UNSPOKEN:
                getattr(self, "do_" + name.replace("-", "_"))(argument)
        if self.interrupted.is_set():
            self.end = {"stop_reason": None, "terminal_reason": "aborted_streaming"}
            if not self.by_message:
                self.end["is_error"] = True
        self.result(**self.end)
        state = "cancelled" if self.interrupted.is_set() else "completed"
        self.program.lifecycle(self.message_id, state)
        for name, argument in self.after:
            if name == "exit":
                os._exit(int(argument))
            self.program.own_turn(argument)

    def result(self, **fields: Any) -> None:
        self.program.cost += 0.25
        is_error = fields.pop("is_error", False)
        self.wire.send(
            "result",
            subtype="error_during_execution" if is_error else "success",
            is_error=is_error,
            result=fields.pop("result", self.said),
            usage=USAGE,
            total_cost_usd=self.program.cost,
            modelUsage={"fake": {"contextWindow": 1000}},
            session_id=self.program.session_id,
            **fields,
        )

    def stream(self, event: dict[str, Any]) -> None:
        self.wire.send("stream_event", event=event, parent_tool_use_id=None)

    def open_block(self, block: dict[str, Any]) -> str:
        message_id = f"msg_{uuid.uuid4().hex[:8]}"
        message = {"id": message_id, "usage": USAGE}
        self.stream({"type": "message_start", "message": message})
        self.stream({"type": "content_block_start", "index": 0, "content_block": block})
        return message_id

    def delta(self, **delta: str) -> None:
        self.stream({"type": "content_block_delta", "index": 0, "delta": delta})

    def whole(self, message_id: str, block: dict[str, Any], **line: Any) -> None:
        self.wire.send("assistant", message={"id": message_id, "content": [block]}, **line)

    def do_say(self, text: str) -> None:
        message_id = self.open_block({"type": "text", "text": ""})
        self.delta(type="text_delta", text=text)
        self.whole(message_id, {"type": "text", "text": text})
        self.stream({"type": "content_block_stop", "index": 0})
        self.stream({"type": "message_stop"})
        self.said = text

    def do_whole(self, text: str) -> None:
        self.whole(f"msg_{uuid.uuid4().hex[:8]}", {"type": "text", "text": text})

    def do_think(self, text: str) -> None:
        message_id = self.open_block({"type": "thinking", "thinking": ""})
        self.delta(type="thinking_delta", thinking=text)
        self.whole(message_id, {"type": "thinking", "thinking": text})

    def call(self, name: str, given: dict[str, Any]) -> str:
        call_id = f"toolu_{uuid.uuid4().hex[:8]}"
        block = {"type": "tool_use", "id": call_id, "name": name}
        message_id = self.open_block({**block, "input": {}})
        self.whole(message_id, {**block, "input": given})
        return call_id

    def did(self, call_id: str, text: str, **line: Any) -> None:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        self.wire.send("user", message={"role": "user", "content": [block]}, **line)

    def do_tool(self, name: str) -> None:
        call_id = self.call(name, {"command": "ls"} if name == "Bash" else {"file_path": "/a"})
        self.did(call_id, f"{name}: done", tool_use_result={"stdout": f"{name}: done"})

    def do_open_tool(self, _: str) -> None:
        self.call("Bash", {"command": "make"})

    def do_todo(self, text: str) -> None:
        todos = [{"content": text, "status": "pending", "activeForm": text}]
        self.did(self.call("TodoWrite", {"todos": todos}), "ok")

    def do_ask(self, subtype: str) -> None:
        request = {"subtype": subtype, "tool_name": "Write", "message": "Really?", "input": {}}
        self.program.log("reply", response=self.wire.ask(request))
        if subtype in QUESTIONS:
            self.interrupted.wait(WAIT_S)

    def do_silent(self, _: str) -> None:
        self.interrupted.wait(WAIT_S)

    def do_hang(self, _: str) -> None:
        threading.Event().wait(WAIT_S)

    def do_flood(self, _: str) -> None:
        self.open_block({"type": "text", "text": ""})
        while True:
            self.delta(type="text_delta", text="and on ")

    def do_burst(self, count: str) -> None:
        self.open_block({"type": "text", "text": ""})
        for number in range(int(count)):
            self.delta(type="text_delta", text=f"{number} ")

    def do_big(self, size: str) -> None:
        self.do_whole("x" * int(size))

    def do_garbage(self, count: str) -> None:
        self.wire.raw(b"this is \x1b[31mnot\xff json\n" * int(count or 1))

    def do_array(self, _: str) -> None:
        self.wire.raw(b"[1,2,3]\n")

    def do_retry(self, status: str) -> None:
        self.wire.send(
            "system",
            subtype="api_retry",
            attempt=1,
            max_retries=10,
            retry_delay_ms=500,
            error_status=int(status),
            error="overloaded",
        )

    def do_broken(self, text: str) -> None:
        self.open_block({"type": "text", "text": ""})
        self.delta(type="text_delta", text=text)
        self.do_retry("529")

    def do_fail(self, status: str) -> None:
        text = f"API Error: {status}"
        block = {"type": "text", "text": text}
        self.whole(str(uuid.uuid4()), block, is_api_error_message=True, error="unknown")
        self.end = {
            "is_error": True,
            "terminal_reason": "api_error",
            "api_error_status": int(status),
            "result": text,
        }

    def do_stop(self, reason: str) -> None:
        self.end["stop_reason"] = reason

    def do_env(self, name: str) -> None:
        self.do_say(os.environ.get(name, "(not set)"))

    def do_child(self, _: str) -> None:
        self.do_say(str(subprocess.Popen(CHILD).pid))

    def do_daemon(self, _: str) -> None:
        self.do_say(str(subprocess.Popen(CHILD, start_new_session=True).pid))

    def do_exit(self, status: str) -> None:
        sys.stderr.write("fatal: the script says so\n")
        sys.stderr.flush()
        os._exit(int(status))

    def do_kill(self, _: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def do_then_exit(self, status: str) -> None:
        self.after.append(("exit", status))

    def do_then_own(self, text: str) -> None:
        self.after.append(("own", text))


class Program:
    """The conversation: reads stdin until it ends, works in a thread."""

    def __init__(self, argv: list[str]) -> None:
        self.options = _options()
        self.wire = ControlWire()
        self.argv = argv
        self.cost = 0.0
        self.mode = self.options.get("mode", "bypassPermissions")
        self.session_id = _after(argv, "--session-id") or _after(argv, "--resume") or "none"
        folder = os.environ.get("SCRIPTED_SESSIONS")
        self.folder = Path(folder) if folder else None
        self.statuses = 0
        self._queue: list[Turn] = []
        self._turn: Turn | None = None
        self._changed = threading.Condition()
        config = _after(argv, "--mcp-config")
        mcp = json.loads(Path(config).read_text("utf-8")) if config else None
        mode = oct(Path(config).stat().st_mode & 0o777) if config else None
        self.log("start", pid=os.getpid(), argv=argv, mcp=mcp, mcp_mode=mode)

    def log(self, what: str, **fields: Any) -> None:
        path = os.environ.get("SCRIPTED_LOG")
        if path:
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"what": what, **fields}) + "\n")

    # --- what it says -----------------------------------------------------------------------

    def lifecycle(self, message_id: str | None, state: str) -> None:
        if message_id is not None and "old" not in self.options:
            self.wire.send("command_lifecycle", command_uuid=message_id, state=state)

    def init(self) -> None:
        other = "other-session" in self.options
        folder = "/elsewhere" if "other-cwd" in self.options else str(Path.cwd())
        self.wire.send(
            "system",
            subtype="init",
            session_id=str(uuid.uuid4()) if other else self.session_id,
            cwd=folder,
            permissionMode=self.options.get("init-mode", self.mode),
        )

    def own_turn(self, text: str) -> None:
        """A turn that nobody asked for; a message of ours that comes meanwhile waits."""
        turn = Turn(self, text, None)
        turn.run()

    # --- what it hears ----------------------------------------------------------------------

    def serve(self) -> None:
        threading.Thread(target=self.work, daemon=True).start()
        for line in sys.stdin.buffer:
            try:
                message = json.loads(line)
            except ValueError:
                sys.stderr.write("Error parsing streaming input line\n")
                sys.stderr.flush()
                os._exit(1)
            handler = getattr(self, "on_" + str(message.get("type")), None)
            if handler is not None:
                handler(message)
        with self._changed:
            self._changed.wait_for(lambda: self._turn is None and not self._queue, WAIT_S)

    def work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._queue))
                self._turn = self._queue.pop(0)
            self._turn.run()
            with self._changed:
                self._turn = None
                self._changed.notify_all()

    def on_user(self, message: dict[str, Any]) -> None:
        text, message_id = message["message"]["content"][0]["text"], message.get("uuid")
        self.log("message", text=text, priority=message.get("priority"))
        self.remember(text)
        if "mute-further" in self.options and message.get("priority") is not None:
            return
        self.lifecycle(message_id, "queued")
        with self._changed:
            if message.get("priority") == "now" and self._turn is not None:
                self._turn.by_message = True
                self._turn.interrupted.set()
            self._queue.append(Turn(self, text, message_id))
            self._changed.notify_all()

    def on_control_response(self, message: dict[str, Any]) -> None:
        self.wire.answered(message["response"])

    def on_control_request(self, message: dict[str, Any]) -> None:
        request, request_id = message["request"], message["request_id"]
        handler = getattr(self, "ask_" + request["subtype"], None)
        self.log(request["subtype"], request=request)
        if handler is None:
            self.wire.refuse(request_id, "Unsupported control request", "unsupported_request")
        else:
            handler(request_id, request)

    def ask_initialize(self, request_id: Any, _: dict[str, Any]) -> None:
        if "init-text" in self.options:
            self.wire.raw(self.options["init-text"].encode() + b"\n")
        if "init-exit" in self.options:
            sys.stderr.write("cannot start: no such model\n")
            sys.stderr.flush()
            os._exit(int(self.options["init-exit"]))
        if "init-hang" not in self.options:
            told = {} if "old" in self.options else {"current_permission_mode": self.mode}
            self.wire.answer(request_id, {"commands": [], **told})

    def ask_set_permission_mode(self, request_id: Any, request: dict[str, Any]) -> None:
        if "refuse" in self.options:
            self.wire.refuse(request_id, "Cannot set permission mode", self.options["refuse"])
            return
        if "mode" not in self.options:
            self.mode = request["mode"]
        self.wire.answer(request_id, {"mode": self.mode})

    def ask_mcp_status(self, request_id: Any, _: dict[str, Any]) -> None:
        self.statuses += 1
        status = self.options.get("mcp", "connected")
        if self.statuses <= int(self.options.get("mcp-after", "0")):
            status = "pending"
        server = {"name": "groupx", "status": status, "error": "it was said no"}
        self.wire.answer(request_id, {"mcpServers": [server]})

    def ask_end_session(self, request_id: Any, _: dict[str, Any]) -> None:
        self.wire.answer(request_id, {})

    def ask_interrupt(self, request_id: Any, request: dict[str, Any]) -> None:
        with self._changed:
            dropped = self._queue if request.get("cancel_queued") else []
            self._queue = [] if dropped else self._queue
            turn = self._turn
        for waiting in dropped:
            self.lifecycle(waiting.message_id, "cancelled")
        if turn is not None and turn.is_deaf:
            turn.is_deaf = "hang" in turn.text or "flood" in turn.text
        elif turn is not None:
            turn.interrupted.set()
        self.wire.answer(request_id, {"still_queued": []})

    # --- sessions ---------------------------------------------------------------------------

    def remember(self, text: str) -> None:
        if self.folder is not None:
            with (self.folder / self.session_id).open("a", encoding="utf-8") as file:
                file.write(text.replace("\n", " ") + "\n")

    def check_session(self) -> None:
        """Refuse a new session that exists, and an old one that does not."""
        if self.folder is None:
            return
        is_known = (self.folder / self.session_id).is_file()
        if _after(self.argv, "--session-id") and is_known:
            sys.stderr.write(f"Error: Session ID {self.session_id} is already in use.\n")
        elif _after(self.argv, "--resume") and not is_known:
            text = f"No conversation found with session ID: {self.session_id}"
            self.wire.send("result", subtype="error_during_execution", is_error=True, errors=[text])
            sys.stderr.write(text + "\n")
        else:
            return
        sys.stderr.flush()
        os._exit(1)


def _options() -> dict[str, str]:
    words = os.environ.get("SCRIPTED_OPTIONS", "").split()
    return dict(word.partition("=")[::2] for word in words)


def _after(argv: list[str], flag: str) -> str | None:
    return argv[argv.index(flag) + 1] if flag in argv else None


def main() -> None:
    options = _options()
    if "--version" in sys.argv:
        if "version-hang" in options:
            threading.Event().wait(WAIT_S)
        sys.stdout.write(options.get("version", VERSION).replace("_", " ") + "\n")
        return
    if "auth" in sys.argv:
        status = {"loggedIn": "signed-out" not in options}
        sys.stdout.write("?" if "no-auth-command" in options else json.dumps(status, indent=1))
        return
    if "ignore-term" in options:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    program = Program(sys.argv[1:])
    program.check_session()
    if "start-child" in options:
        program.log("child", pid=subprocess.Popen(CHILD).pid)
    program.serve()
    if "ignore-eof" in options:
        threading.Event().wait(WAIT_S)


if __name__ == "__main__":
    main()
