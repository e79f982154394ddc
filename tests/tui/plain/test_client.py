"""The line-by-line client against a real socket: all of it can be done, and all of it is heard."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from groupx_shared.workspace import Workspace
from groupx_tui.actions import SLASH_WORDS
from groupx_tui.client.session import ClientSession
from groupx_tui.plain import client as client_module
from groupx_tui.plain.commands import Commands
from support.fake_server import FakeServer, hang_up, refuse
from support.plain_talk import PATIENCE_S, Talk
from support.room_events import agent_actor
from support.server_place import Place

pytestmark = pytest.mark.slow


async def test_a_line_is_sent_and_the_answer_is_heard_whole_and_once(
    server: FakeServer, talk: Talk
) -> None:
    talk.type("@codex how are you?")
    await talk.hear("Sent to Codex, number 11.")
    script = server.script
    script.queue("t", "codex")
    script.start("t", "codex")
    script.delta("t", "codex", "fi")
    script.delta("t", "codex", "ne\x1b[2J")
    script.end("t", "codex")
    server.push(*script.live[-7:-2])
    await talk.hear("Codex: works.")
    server.push(*script.live[-2:])
    await talk.hear("Codex answers")
    await talk.hear("fine␛[2J\n")
    assert "fine" not in talk.heard
    assert server.asked_json("/api/messages")["to"] == ["agent:codex"]


async def test_a_line_with_a_backslash_goes_on_and_two_slashes_are_one(
    server: FakeServer, talk: Talk
) -> None:
    talk.type("first\\")
    talk.type("//help")
    await talk.hear("Sent to")
    assert server.asked_json("/api/messages")["content"] == "first\n//help"
    talk.type("//help me")
    await talk.hear("Sent to")
    assert server.asked_json("/api/messages")["content"] == "/help me"


async def test_what_fails_says_why_and_what_to_do(server: FakeServer, talk: Talk) -> None:
    script = server.script
    script.queue("t", "codex")
    script.start("t", "codex")
    script.delta("t", "codex", "half")
    script.end("t", "codex", outcome="failed", errorMessage="No credit.",
               deliveryCertainty="unknown")  # fmt: skip
    server.push(*script.live[-5:])
    await talk.hear("Codex failed")
    await talk.hear("half\nBecause: No credit.\nNobody knows how far it came.")
    await talk.hear("/retry sends it again; /continue asks it to go on.")
    talk.type("/retry @codex")
    talk.type("/continue")
    talk.type("/agents")
    await talk.hear("@codex: Codex")
    assert server.paths()[-2:] == ["POST /api/turns/t/retry", "POST /api/turns/t/continue"]


async def test_a_running_turn_is_cancelled_and_several_are_asked_about(
    server: FakeServer, talk: Talk
) -> None:
    talk.type("/cancel")
    await talk.hear("No agent works on anything")
    script = server.script
    for turn, key in (("a", "codex"), ("b", "kimi")):
        script.queue(turn, key)
        script.start(turn, key)
    server.push(*script.live[-6:])
    await talk.hear("Kimi: works.")
    talk.type("/cancel")
    await talk.hear("@codex, @kimi. Say which")
    talk.type("/cancel @kimi")
    talk.type("/agents")
    await talk.hear("@kimi: Kimi, ready")
    assert server.paths()[-1] == "POST /api/turns/b/cancel"


async def test_earlier_messages_and_places_are_read_without_leaving_the_end(
    server: FakeServer, talk: Talk
) -> None:
    talk.type("/more")
    await talk.hear("message 1\n")
    await talk.hear("message 4\n")
    talk.type("/more")
    await talk.hear("That was the first one.")
    talk.type("/jump 7")
    await talk.hear("number 7:\nmessage 7")
    talk.type("/jump first")
    await talk.hear("message 1\n")
    talk.type("/jump nowhere")
    await talk.hear("Say first, last or a number")
    talk.type("/jump")
    await talk.hear("message 10\n")
    server.push(server.script.say("new", actor=server.script.person))
    await talk.hear("number 11.")


async def test_words_are_found_here_and_everywhere(server: FakeServer, talk: Talk) -> None:
    server.script.say("message far away", room="room:ideas")
    talk.type("/search message")
    await talk.hear("number 10, ")
    await talk.hear("number 1, ")
    assert "far away" not in talk.heard
    talk.type("/everywhere message")
    await talk.hear("web: message far away")
    talk.type("/search zzz")
    await talk.hear("Nothing like that.")
    talk.type("/search")
    await talk.hear("Say what to look for")


async def test_rooms_are_listed_entered_and_made(server: FakeServer, talk: Talk) -> None:
    talk.type("/new Ideas")
    await talk.hear("Room ideas, 0 messages.")
    talk.type("/room")
    await talk.hear("ideas: ideas, here")
    talk.type("/room main")
    await talk.hear("Room main, 10 messages.")
    talk.type("/room zzz")
    await talk.hear("zzz")
    talk.type("/rename")
    await talk.hear("Say its new title")


async def test_news_of_another_room_are_told_once(server: FakeServer, talk: Talk) -> None:
    server.push(server.script.say("x", room="room:ideas", actor=server.script.person))
    for text in ("one", "two"):
        said = server.script.say(text, room="room:ideas", actor=agent_actor("kimi"))
        server.push(said)
    await talk.hear("New in ideas; /room ideas goes there.")
    talk.type("/agents")
    await talk.hear("@kimi")
    assert "New in" not in talk.heard


async def test_details_reply_help_and_words_that_need_a_screen(
    server: FakeServer, talk: Talk
) -> None:
    talk.type("/details")
    await talk.hear("There is no turn here yet.")
    talk.type("/reply yes")
    await talk.hear("once there is an answer")
    server.script.whole_turn("t", "codex", "the answer")
    server.push(*server.script.live[-6:])
    await talk.hear("the answer")
    talk.type("/reply yes, do it")
    await talk.hear("Sent to Codex")
    sent = server.asked_json("/api/messages")
    assert (sent["content"], sent["to"]) == ("yes, do it", ["agent:codex"])
    assert sent["replyToEventId"]
    talk.type("/details")
    await talk.hear("turn: t")
    talk.type("/help")
    await talk.hear("/cancel @AGENT:")
    talk.type("/theme nord")
    await talk.hear("needs the full-screen window")


async def test_a_refusal_is_said_and_a_lost_server_too(
    server: FakeServer, talk: Talk, place: Place
) -> None:
    server.fail_next("/api/messages", refuse(429, "QUEUE_CAPACITY_REACHED", "The queue is full."))
    talk.type("hello")
    await talk.hear("Not sent: The queue is full.")
    server.fail_next("/api/bootstrap", hang_up)
    server.drop_stream()
    await talk.hear("Trying again every few seconds")
    await talk.hear("Connected again.")
    talk.type("/reconnect")
    await talk.hear("there already")
    talk.type("/start")
    await talk.hear("The server is running.")


async def test_without_a_server_a_line_is_refused_and_start_is_there(
    session: ClientSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "READY_S", 0.05)
    there, place.runtime = place.runtime, None
    talk = Talk(session, is_person=True)
    async with asyncio.TaskGroup() as group:
        group.create_task(talk.client.run(talk.lines()))
        await talk.hear("There is no server; /start starts it.")
        talk.type("hello")
        await talk.hear("Not done: there is no server yet. /start starts it.")
        place.runtime = there
        talk.type("/start")
        await talk.hear("Room main, 0 messages.")
        assert talk.starts == 2
        talk.type("/quit")


async def test_a_script_ends_when_what_it_asked_is_answered(
    server: FakeServer, session: ClientSession
) -> None:
    talk = Talk(session, is_person=False)
    talk.type("@codex go")
    talk.end()
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        running = group.create_task(talk.client.run(talk.lines()))
        await server.stream_is_open()
        await talk.hear("Sent to Codex")
        server.script.queue("other", "kimi")
        server.push(server.script.live[-1])
        await running
    assert "> " not in talk.heard


async def test_an_output_that_is_closed_ends_it(server: FakeServer, session: ClientSession) -> None:
    talk = Talk(session, is_person=True)

    def closed(text: str) -> None:
        raise BrokenPipeError

    talk.client._write = closed
    async with asyncio.timeout(PATIENCE_S):
        assert await talk.client.run(talk.lines()) == 0


def test_every_word_of_the_table_means_something_here(session: ClientSession) -> None:
    commands = Commands(Talk(session, is_person=True).client)
    assert [word for word in SLASH_WORDS if commands.find(word) is None] == []
    assert commands.find("summary") is None


async def test_a_room_that_is_not_there_is_said_before_the_main_one(
    server: FakeServer, place: Place, tmp_path: Path
) -> None:
    server.fail_next("/api/bootstrap", refuse(404, "UNKNOWN_ROOM", "There is no room x."))
    workspace = Workspace(tmp_path / "groupx.json", tmp_path, is_default=False)
    talk = Talk(ClientSession(workspace, room_id="room:x", find_server=place.find), is_person=True)
    async with asyncio.TaskGroup() as group:
        group.create_task(talk.client.run(talk.lines()))
        await talk.hear("There is no room “x”.")
        await talk.hear("Room main")
        talk.end()
