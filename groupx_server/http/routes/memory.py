"""Memory and identity: list, remember, correct, take back, pin."""

from __future__ import annotations

from types import NoneType

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import IdentityQuery, MemoryQuery, NoQuery
from groupx_server.http.reply import Reply, json_reply
from groupx_server.ledger.recordsearch import Asked
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.memory import (
    IdentityList,
    IdentityReply,
    MemoryList,
    MemoryReply,
    PinMemory,
    RememberIdentity,
    RememberMemory,
    SupersedeIdentity,
    SupersedeMemory,
)
from groupx_shared.wire.requests import CommandRequest


async def list_memory(call: Call[MemoryQuery, None]) -> Reply:
    query = call.query
    has_history = query.include_history == "true"
    memories, filters = call.rooms.memories, query.filters()
    if query.words.strip():
        asked = Asked(query.words, filters, query.cursor, query.limit)
        return json_reply(await memories.search_memory(asked))
    found = await memories.list_memory(filters, has_history, query.cursor, query.limit)
    return json_reply(found)


async def read_memory(call: Call[NoQuery, None]) -> Reply:
    return json_reply(await call.rooms.memories.read_memory(call.path["memoryId"]))


async def memory_history(call: Call[NoQuery, None]) -> Reply:
    return json_reply(await call.rooms.memories.memory_history(call.path["memoryId"]))


async def remember(call: Call[NoQuery, RememberMemory]) -> Reply:
    return json_reply(await call.rooms.memories.remember(call.body, call.credential.source), 201)


async def supersede(call: Call[NoQuery, SupersedeMemory]) -> Reply:
    memory_id, source = call.path["memoryId"], call.credential.source
    return json_reply(await call.rooms.memories.supersede(memory_id, call.body, source), 201)


async def retract(call: Call[NoQuery, CommandRequest]) -> Reply:
    memory_id, source = call.path["memoryId"], call.credential.source
    return json_reply(await call.rooms.memories.retract(memory_id, call.body, source))


async def pin(call: Call[NoQuery, PinMemory]) -> Reply:
    memory_id, source = call.path["memoryId"], call.credential.source
    return json_reply(await call.rooms.memories.pin(memory_id, call.body, source))


async def list_identity(call: Call[IdentityQuery, None]) -> Reply:
    query = call.query
    has_history = query.include_history == "true"
    memories, filters = call.rooms.memories, query.filters()
    if query.words.strip():
        asked = Asked(query.words, filters, query.cursor, query.limit)
        return json_reply(await memories.search_identity(asked))
    found = await memories.list_identity(filters, has_history, query.cursor, query.limit)
    return json_reply(found)


async def read_identity(call: Call[NoQuery, None]) -> Reply:
    return json_reply(await call.rooms.memories.read_identity(call.path["identityId"]))


async def identity_history(call: Call[NoQuery, None]) -> Reply:
    return json_reply(await call.rooms.memories.identity_history(call.path["identityId"]))


async def remember_identity(call: Call[NoQuery, RememberIdentity]) -> Reply:
    source = call.credential.source
    return json_reply(await call.rooms.memories.remember_identity(call.body, source), 201)


async def supersede_identity(call: Call[NoQuery, SupersedeIdentity]) -> Reply:
    identity_id, source = call.path["identityId"], call.credential.source
    return json_reply(
        await call.rooms.memories.supersede_identity(identity_id, call.body, source), 201
    )


async def retract_identity(call: Call[NoQuery, CommandRequest]) -> Reply:
    identity_id, source = call.path["identityId"], call.credential.source
    return json_reply(await call.rooms.memories.retract_identity(identity_id, call.body, source))


_WRITE = (
    ErrorCode.UNKNOWN_ROOM,
    ErrorCode.UNKNOWN_ACTOR,
    ErrorCode.UNKNOWN_EVENT,
    ErrorCode.CLIENT_COMMAND_CONFLICT,
)
_CHANGE = (ErrorCode.STORE_CONFLICT, ErrorCode.CLIENT_COMMAND_CONFLICT)

ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/memory",
        handler=list_memory,
        query=MemoryQuery,
        body=NoneType,
        reply=MemoryList,
        summary="Memory records, newest first.",
    ),
    Route(
        method="POST",
        path="/api/memory",
        handler=remember,
        query=NoQuery,
        body=RememberMemory,
        reply=MemoryReply,
        summary="Remember something, for a room or as an agent's core memory.",
        status=201,
        errors=_WRITE,
    ),
    Route(
        method="GET",
        path="/api/memory/{memoryId}",
        handler=read_memory,
        query=NoQuery,
        body=NoneType,
        reply=MemoryReply,
        summary="One memory record, in whatever state.",
        errors=(ErrorCode.UNKNOWN_MEMORY,),
    ),
    Route(
        method="GET",
        path="/api/memory/{memoryId}/history",
        handler=memory_history,
        query=NoQuery,
        body=NoneType,
        reply=MemoryList,
        summary="All versions of a memory record, newest first.",
        errors=(ErrorCode.UNKNOWN_MEMORY,),
    ),
    Route(
        method="POST",
        path="/api/memory/{memoryId}/supersede",
        handler=supersede,
        query=NoQuery,
        body=SupersedeMemory,
        reply=MemoryReply,
        summary="Correct a record: a new one takes its place, the old one is history.",
        status=201,
        errors=(ErrorCode.UNKNOWN_MEMORY, ErrorCode.UNKNOWN_EVENT, *_CHANGE),
    ),
    Route(
        method="POST",
        path="/api/memory/{memoryId}/retract",
        handler=retract,
        query=NoQuery,
        body=CommandRequest,
        reply=MemoryReply,
        summary="Take a record back; it stays in the history and is told to nobody.",
        errors=(ErrorCode.UNKNOWN_MEMORY, *_CHANGE),
    ),
    Route(
        method="POST",
        path="/api/memory/{memoryId}/pin",
        handler=pin,
        query=NoQuery,
        body=PinMemory,
        reply=MemoryReply,
        summary="Pin a record, so that it goes with every turn, or unpin it.",
        errors=(ErrorCode.UNKNOWN_MEMORY, *_CHANGE),
    ),
    Route(
        method="GET",
        path="/api/identity",
        handler=list_identity,
        query=IdentityQuery,
        body=NoneType,
        reply=IdentityList,
        summary="What was said about who agents are, newest first.",
    ),
    Route(
        method="POST",
        path="/api/identity",
        handler=remember_identity,
        query=NoQuery,
        body=RememberIdentity,
        reply=IdentityReply,
        summary="Say something about who an agent is here.",
        status=201,
        errors=_WRITE,
    ),
    Route(
        method="GET",
        path="/api/identity/{identityId}",
        handler=read_identity,
        query=NoQuery,
        body=NoneType,
        reply=IdentityReply,
        summary="One identity record, in whatever state.",
        errors=(ErrorCode.UNKNOWN_IDENTITY,),
    ),
    Route(
        method="GET",
        path="/api/identity/{identityId}/history",
        handler=identity_history,
        query=NoQuery,
        body=NoneType,
        reply=IdentityList,
        summary="All versions of an identity record, newest first.",
        errors=(ErrorCode.UNKNOWN_IDENTITY,),
    ),
    Route(
        method="POST",
        path="/api/identity/{identityId}/supersede",
        handler=supersede_identity,
        query=NoQuery,
        body=SupersedeIdentity,
        reply=IdentityReply,
        summary="Correct an identity record.",
        status=201,
        errors=(ErrorCode.UNKNOWN_IDENTITY, ErrorCode.UNKNOWN_EVENT, *_CHANGE),
    ),
    Route(
        method="POST",
        path="/api/identity/{identityId}/retract",
        handler=retract_identity,
        query=NoQuery,
        body=CommandRequest,
        reply=IdentityReply,
        summary="Take an identity record back.",
        errors=(ErrorCode.UNKNOWN_IDENTITY, *_CHANGE),
    ),
)
