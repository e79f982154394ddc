"""A fake `codex app-server`, run as a real child process. Standard library only.

What it does in a turn is chosen by markers in the prompt, several may follow each other:

    [[say TEXT]]      stream TEXT as one message (a prompt without a marker: "echo: <prompt>")
    [[think TEXT]]    stream a reasoning summary    [[plan]]     send a plan
    [[run COMMAND]]   a whole command               [[start COMMAND]]  a command that goes on
    [[retry TEXT]]    begin to say TEXT, lose the model, report a retry
    [[retrying]]      report retries until interrupted
    [[approve]]       ask for an approval and wait  [[ask METHOD]]     send any request and wait
    [[silent]]        say nothing until interrupted [[hang]]     the same, ignoring the interrupt
    [[flood]]         stream for ever and ignore the interrupt
    [[error WORD]]    fail the turn with this codexErrorInfo
    [[burst N]]       stream N pieces               [[big N]]    one line of N bytes
    [[garbage N]]     N lines that are no JSON      [[env NAME]] say the value of a variable
    [[steered]]       wait for a steer and say it   [[child]]    start a grandchild, say its pid
    [[detached]]      the same, in a session of its own
    [[exit N]]        exit at once                  [[kill]]     die by SIGKILL
    [[empty]]         end the turn without a word

Options (argv, in any order with the real ones): --init-hang --init-exit=N --init-text=TEXT
--approvals=LIST --sandboxes=LIST (what a policy allows) --open-as=POLICY --no-requirements
--tools-fail --resume-hang --resume-cwd=PATH --slow-server=SECONDS --refuse-turn=TEXT
--no-turn-answer --interrupt-early (the first interrupt meets no turn) --started-first (the turn
begins before its answer) --signed-out --ignore-eof --ignore-term.

Environment: SCRIPTED_LOG names a file that gets one JSON line for the start and for each request.
SCRIPTED_SESSIONS names a folder in which threads that had a turn survive the process.
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

DEAF = ("hang", "flood")
MARKER = re.compile(r"\[\[([a-z-]+)(?: ([^\]]*))?\]\]")
WAIT_S = 300.0  # longer than any test; an abandoned program still ends by itself
RETRY_S = 0.02
CHILD = [sys.executable, "-c", "import signal; signal.pause()"]
VERSION = "groupx/9.8.7 (Toy 1; x86_64) dumb (groupx; 1)"


class Wire:
    """stdout, one message at a time, and the answers to our own requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[int, threading.Event] = {}
        self._next_id = 0  # the real one numbers from 0

    def raw(self, data: bytes) -> None:
        with self._lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def send(self, message: dict[str, Any]) -> None:
        self.raw(json.dumps(message).encode() + b"\n")

    def tell(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": params, "emittedAtMs": 1})

    def ask(self, method: str, params: dict[str, Any]) -> None:
        request_id, self._next_id = self._next_id, self._next_id + 1
        event = self._answers[request_id] = threading.Event()
        self.send({"id": request_id, "method": method, "params": params})
        event.wait(WAIT_S)

    def answered(self, message: dict[str, Any]) -> None:
        if message["id"] in self._answers:
            self._answers[message["id"]].set()


class Turn:
    """One turn, run in a thread of its own."""

    def __init__(self, server: Server, thread_id: str, text: str) -> None:
        self.id = f"turn-{uuid.uuid4().hex[:8]}"
        self.server = server
        self.thread_id = thread_id
        self.text = text
        self.interrupted = threading.Event()
        self.steered = threading.Event()
        self.steer_text = ""
        self.ignores_interrupt = False
        self.status = "completed"
        self.error: dict[str, Any] | None = None
        self.terminals: list[dict[str, Any]] = []
        self.tokens = 0

    def run(self) -> None:
        said = self.text[max(0, self.text.rfind("[current_message fence=")) :]
        if said.startswith("You write "):  # the room is to be summed up, not played again
            said = ""
        markers = MARKER.findall(said) or [("say", f"echo: {self.text}")]
        # From the start: an interrupt may come before the step that is to ignore it.
        self.ignores_interrupt = any(name in DEAF for name, _ in markers)
        for name, argument in markers:
            getattr(self, "do_" + name.replace("-", "_"))(argument)
            if self.interrupted.is_set():
                break
        self.finish()

    def finish(self) -> None:
        if self.interrupted.is_set():
            self.status = "interrupted"
        self.usage()
        self.server.turns.pop(self.thread_id, None)
        left = [(self.id, item) for item in self.terminals]
        self.server.terminals.setdefault(self.thread_id, []).extend(left)
        turn: dict[str, Any] = {
            "id": self.id,
            "status": self.status,
            "error": self.error,
            "items": [],
        }
        self.server.wire.tell("turn/completed", threadId=self.thread_id, turn=turn)

    def tell(self, method: str, **params: Any) -> None:
        ids = {"threadId": self.thread_id, "turnId": self.id}
        self.server.wire.tell(method, **ids, **params)

    def item(self, phase: str, **item: Any) -> dict[str, Any]:
        self.tell(f"item/{phase}", item=item)
        return item

    def usage(self) -> None:
        self.server.total += 7
        counts = {"totalTokens": 7, "inputTokens": 5, "outputTokens": 2}
        total = {"totalTokens": self.server.total}
        usage = {"total": total, "last": counts, "modelContextWindow": 1000}
        self.tell("thread/tokenUsage/updated", tokenUsage=usage)

    def say(self, text: str) -> None:
        item_id = f"msg-{uuid.uuid4().hex[:8]}"
        self.item("started", type="agentMessage", id=item_id, text="")
        for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
            self.tell("item/agentMessage/delta", itemId=item_id, delta=piece)
        self.item("completed", type="agentMessage", id=item_id, text=text)

    def command(self, command: str) -> dict[str, Any]:
        shown = f"/bin/bash -lc '{command}'"
        item = {"type": "commandExecution", "id": f"call-{uuid.uuid4().hex[:8]}"}
        return {**item, "command": shown, "cwd": str(Path.cwd()), "status": "inProgress"}

    def until_interrupted(self) -> None:
        self.interrupted.wait(WAIT_S)

    def do_say(self, text: str) -> None:
        self.say(text)

    def do_think(self, text: str) -> None:
        item_id = f"rs-{uuid.uuid4().hex[:8]}"
        self.tell("item/reasoning/summaryTextDelta", itemId=item_id, delta=text, summaryIndex=0)
        self.item("completed", type="reasoning", id=item_id, summary=[text], content=[])

    def do_plan(self, _: str) -> None:
        self.tell("turn/plan/updated", plan=[{"step": "first", "status": "inProgress"}])

    def do_run(self, command: str) -> None:
        item = self.item("started", **self.command(command))
        self.tell("item/commandExecution/outputDelta", itemId=item["id"], delta="late\n")
        done = {"status": "completed", "aggregatedOutput": "early\nlate\n", "exitCode": 0}
        self.item("completed", **{**item, **done})

    def do_start(self, command: str) -> None:
        self.terminals.append(self.item("started", **self.command(command)))

    def do_retry(self, text: str) -> None:
        item_id = f"msg-{uuid.uuid4().hex[:8]}"
        self.item("started", type="agentMessage", id=item_id, text="")
        self.tell("item/agentMessage/delta", itemId=item_id, delta=text)
        error = {"message": "Reconnecting... 1/5", "additionalDetails": "stream disconnected"}
        self.tell("error", error=error, willRetry=True)

    def do_retrying(self, _: str) -> None:
        error = {"message": "Reconnecting... waiting for network"}
        while not self.interrupted.wait(RETRY_S):
            self.tell("error", error=error, willRetry=True)

    def do_approve(self, _: str) -> None:
        item = self.item("started", **self.command("rm -r /"))
        self.ask("item/commandExecution/requestApproval", command="rm -r /", itemId=item["id"])
        self.item("completed", **{**item, "status": "declined"})
        self.interrupted.set()  # “cancel” declines the command and interrupts the turn

    def do_ask(self, method: str) -> None:
        self.ask(method)

    def ask(self, method: str, **params: Any) -> None:
        ids = {"threadId": self.thread_id, "turnId": self.id}
        self.server.wire.ask(method, {**ids, **params})

    def do_silent(self, _: str) -> None:
        self.until_interrupted()

    def do_hang(self, _: str) -> None:
        self.until_interrupted()

    def do_flood(self, _: str) -> None:
        while True:
            self.tell("item/agentMessage/delta", itemId="msg-flood", delta="x" * 1000)

    def do_error(self, word: str) -> None:
        self.status = "failed"
        self.error = {"message": f"The model failed: {word}.", "codexErrorInfo": word}
        self.tell("error", error=self.error, willRetry=False)

    def do_burst(self, count: str) -> None:
        pieces = [f"{number} " for number in range(int(count))]
        for piece in pieces:
            self.tell("item/agentMessage/delta", itemId="msg-burst", delta=piece)
        self.item("completed", type="agentMessage", id="msg-burst", text="".join(pieces))

    def do_big(self, size: str) -> None:
        self.tell("item/agentMessage/delta", itemId="msg-big", delta="x" * int(size))

    def do_garbage(self, count: str) -> None:
        self.server.wire.raw(b"this is no JSON\n" * int(count))

    def do_env(self, name: str) -> None:
        self.say(os.environ.get(name, "(not set)"))

    def do_steered(self, _: str) -> None:
        self.say("waiting")
        self.steered.wait(WAIT_S)
        self.say(self.steer_text)

    def do_child(self, _: str) -> None:
        self.say(str(subprocess.Popen(CHILD, stdin=subprocess.DEVNULL).pid))

    def do_detached(self, _: str) -> None:
        child = subprocess.Popen(CHILD, stdin=subprocess.DEVNULL, start_new_session=True)
        self.say(str(child.pid))

    def do_exit(self, status: str) -> None:
        sys.stdout.flush()
        os._exit(int(status))

    def do_kill(self, _: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def do_empty(self, _: str) -> None:
        pass


class Server:
    """The program: reads requests until the end of stdin."""

    def __init__(self, argv: list[str]) -> None:
        found = [word[2:].partition("=") for word in argv if word.startswith("--")]
        self.options = {name: value for name, _, value in found}
        self.wire = Wire()
        self.turns: dict[str, Turn] = {}
        self.terminals: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        self.total = 0
        self.sessions = Path(os.environ.get("SCRIPTED_SESSIONS", os.devnull))

    def log(self, what: str, **entry: Any) -> None:
        if path := os.environ.get("SCRIPTED_LOG"):
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"what": what, "pid": os.getpid(), **entry}) + "\n")

    def run(self) -> None:
        self.log("start", argv=sys.argv[1:])
        if "ignore-term" in self.options:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "method" not in message:
                self.log("answer", message=message)
                self.wire.answered(message)
                continue
            self.log(message["method"], params=message.get("params"))
            if "id" in message:
                name = "on_" + re.sub(r"\W", "_", message["method"])
                getattr(self, name, self.unknown)(message["id"], message.get("params", {}))
        if "ignore-eof" in self.options:
            threading.Event().wait(WAIT_S)
        os._exit(0)

    def answer(self, request_id: Any, **result: Any) -> None:
        self.wire.send({"id": request_id, "result": result})

    def refuse(self, request_id: Any, text: str, code: int = -32600) -> None:
        self.wire.send({"id": request_id, "error": {"code": code, "message": text}})

    def unknown(self, request_id: Any, _: dict[str, Any]) -> None:
        self.refuse(request_id, "Invalid request: unknown variant")

    def on_initialize(self, request_id: Any, _: dict[str, Any]) -> None:
        if "init-hang" in self.options:
            return
        if "init-text" in self.options:
            self.wire.raw(self.options["init-text"].encode() + b"\n")
        if "init-exit" in self.options:
            sys.stderr.write("cannot start: no disk\n")
            sys.stderr.flush()
            os._exit(int(self.options["init-exit"]))
        self.answer(request_id, userAgent=VERSION, codexHome="/nowhere")
        self.wire.tell("configWarning", summary="bubblewrap is missing", details=None)

    def on_configRequirements_read(self, request_id: Any, _: dict[str, Any]) -> None:
        if "no-requirements" in self.options:
            self.unknown(request_id, {})
            return
        allowed: dict[str, list[str]] = {}
        for option, key in (
            ("approvals", "allowedApprovalPolicies"),
            ("sandboxes", "allowedSandboxModes"),
        ):
            if option in self.options:
                allowed[key] = self.options[option].split(",")
        self.answer(request_id, requirements=allowed or None)

    def on_account_read(self, request_id: Any, _: dict[str, Any]) -> None:
        is_needed = "signed-out" in self.options
        self.answer(request_id, account=None, requiresOpenaiAuth=is_needed)

    def on_thread_start(self, request_id: Any, params: dict[str, Any]) -> None:
        self.open(request_id, f"thread-{uuid.uuid4().hex[:8]}", params)

    def on_thread_resume(self, request_id: Any, params: dict[str, Any]) -> None:
        if "resume-hang" in self.options:
            return
        thread_id = params["threadId"]
        if not (self.sessions / thread_id).exists():
            self.refuse(request_id, f"no rollout found for thread id {thread_id}")
            return
        self.open(request_id, thread_id, params)

    def open(self, request_id: Any, thread_id: str, params: dict[str, Any]) -> None:
        servers = params.get("config", {}).get("mcp_servers", {})
        if "tools-fail" in self.options and servers:
            text = "required MCP servers failed to initialize: groupx: nobody listens"
            self.refuse(request_id, f"error creating thread: {text}", -32603)
            return
        cwd = self.options.get("resume-cwd", params["cwd"])
        policy = self.options.get("open-as", params["approvalPolicy"])
        sandbox = {"type": "dangerFullAccess"}
        thread = {"id": thread_id, "cwd": cwd}
        self.answer(request_id, thread=thread, cwd=cwd, approvalPolicy=policy, sandbox=sandbox)
        self.wire.tell("thread/started", thread=thread)
        if "slow-server" in self.options:
            self.server_is(thread_id, "starting")
            threading.Thread(target=self.start_slowly, args=(thread_id,), daemon=True).start()

    def start_slowly(self, thread_id: str) -> None:
        time.sleep(float(self.options["slow-server"]))
        self.log("server-ready")
        self.server_is(thread_id, "ready")

    def server_is(self, thread_id: str, status: str) -> None:
        method = "mcpServer/startupStatus/updated"
        self.wire.tell(method, threadId=thread_id, name="mine", status=status)

    def on_thread_unsubscribe(self, request_id: Any, _: dict[str, Any]) -> None:
        self.answer(request_id, status="unsubscribed")

    def on_turn_start(self, request_id: Any, params: dict[str, Any]) -> None:
        thread_id, text = params["threadId"], params["input"][0]["text"]
        self.log("prompt", text=text)
        if "no-turn-answer" in self.options:
            return
        if "refuse-turn" in self.options:
            self.refuse(request_id, self.options["refuse-turn"])
            return
        if self.sessions.is_dir():
            (self.sessions / thread_id).touch()
        turn = self.turns[thread_id] = Turn(self, thread_id, text)
        told = {"id": turn.id, "status": "inProgress"}
        started = {"threadId": thread_id, "turn": told}
        if "started-first" in self.options:
            self.wire.tell("turn/started", **started)
            self.answer(request_id, turn=told)
        else:
            self.answer(request_id, turn=told)
            if "interrupt-early" not in self.options:
                self.wire.tell("turn/started", **started)
        threading.Thread(target=turn.run, daemon=True).start()

    def on_turn_interrupt(self, request_id: Any, params: dict[str, Any]) -> None:
        turn = self.turns.get(params["threadId"])
        if turn is None or self.options.pop("interrupt-early", None) is not None:
            self.refuse(request_id, "no active turn to interrupt")
            if turn is not None:
                self.wire.tell(
                    "turn/started", threadId=turn.thread_id, turn={"id": turn.id, "status": "x"}
                )
            return
        self.answer(request_id)
        if not turn.ignores_interrupt:
            turn.interrupted.set()

    def on_turn_steer(self, request_id: Any, params: dict[str, Any]) -> None:
        turn = self.turns.get(params["threadId"])
        if turn is None or turn.id != params["expectedTurnId"]:
            self.refuse(request_id, "no active turn to steer")
            return
        self.answer(request_id, turnId=turn.id)
        turn.steer_text = params["input"][0]["text"]
        turn.steered.set()

    def on_thread_backgroundTerminals_clean(self, request_id: Any, params: dict[str, Any]) -> None:
        self.answer(request_id)
        thread_id = params["threadId"]
        for turn_id, item in self.terminals.pop(thread_id, []):
            ended = {**item, "status": "failed", "exitCode": -1}
            self.wire.tell("item/completed", threadId=thread_id, turnId=turn_id, item=ended)


if __name__ == "__main__":
    Server(sys.argv[1:]).run()
