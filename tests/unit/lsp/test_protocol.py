"""Whatever comes in place of a message: the next request is answered, and each request once."""

import io
import json
import os
import threading
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synapse_ls.core.config import Settings
from synapse_ls.lsp import transport
from synapse_ls.lsp.framing import Frames
from synapse_ls.lsp.server import SynapseServer
from synapse_ls.lsp.streams import Input

URI = "file:///no/such/folder/a.md"
PLACE = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
ITEM = {"uri": URI, "languageId": "markdown", "version": 1, "text": "# A\n\n[[b]] 🍋\n"}
EDIT = {"range": {"start": {"line": 0, "character": 1}, "end": {"line": 2, "character": 3}}, "text": "x"}
NEW = {"uri": URI, "version": 2}
EMPTY: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}

MESSAGES: list[dict[str, Any]] = [
    {"id": 7, "method": "initialize", "params": EMPTY},
    {"method": "initialized", "params": {}},
    {"id": 7, "method": "textDocument/hover", "params": PLACE},
    {"id": 7, "method": "textDocument/definition", "params": PLACE},
    {"id": 7, "method": "textDocument/references", "params": {**PLACE, "context": {"includeDeclaration": True}}},
    {"id": 7, "method": "textDocument/implementation", "params": PLACE},
    {"id": 7, "method": "synapse/backlinks", "params": {"uri": URI, "limit": 3}},
    {"id": 7, "method": "synapse/related", "params": {"uri": URI, "position": PLACE["position"], "limit": 3}},
    {"id": 7, "method": "workspace/symbol", "params": {"query": "x"}},
    {"id": 7, "method": "workspace/executeCommand", "params": {"command": "synapse.status", "arguments": []}},
    {"id": 7, "method": "synapse/status", "params": {}},
    {"id": 7, "method": "synapse/search", "params": {
        "query": "x", "limit": 5, "mode": "hybrid", "near": URI, "session": "s", "explain": True,
        "filter": {"folders": ["a"], "tags": ["b"], "properties": {"c": "d"}, "modifiedAfter": "2026-01-31"}}},
    {"id": 7, "method": "no/such/method", "params": {}},
    {"method": "textDocument/didOpen", "params": {"textDocument": ITEM}},
    {"method": "textDocument/didChange", "params": {"textDocument": NEW, "contentChanges": [EDIT]}},
    {"method": "textDocument/didChange", "params": {"textDocument": NEW, "contentChanges": [{"text": "y"}]}},
    {"method": "textDocument/didSave", "params": {"textDocument": {"uri": URI}}},
    {"method": "textDocument/didClose", "params": {"textDocument": {"uri": URI}}},
    {"method": "workspace/didChangeWatchedFiles", "params": {"changes": [{"uri": URI, "type": 2}]}},
    {"method": "workspace/didRenameFiles", "params": {"files": [{"oldUri": URI, "newUri": URI}]}},
    {"method": "workspace/didChangeConfiguration", "params": {"settings": {"synapse": {"search": {"limit": 5}}}}},
    {"method": "$/cancelRequest", "params": {"id": 7}},
    {"method": "$/setTrace", "params": {"value": "off"}},
    {"method": "window/workDoneProgress/cancel", "params": {"token": "x"}},
    {"method": "no/such/notification", "params": {}},
    {"id": 7, "result": None},
    {"id": 7, "error": {"code": 1, "message": "x"}},
]  # fmt: skip

ODD: list[Any] = [
    None, True, False, 0, -1, 1.5, 1e300, 2**31, 2**63, -(2**63), 10**25, "", "x", "\ud800", "\0", "file://[x", "🍋",
    "x" * 10_000, [], [[]], {}, {"uri": None}, [None], {"": {}}, [1, "2", {}],
]  # fmt: skip


def nested(depth: int) -> object:
    """Return lists in lists."""
    value: object = 0
    for _ in range(depth):
        value = [value]
    return value


def paths(value: object) -> list[tuple[str | int, ...]]:
    """Return the places in a JSON value, the whole one among them."""
    found: list[tuple[str | int, ...]] = [()]
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        found += [(key, *path) for path in paths(member)]
    return found


def replaced(value: Any, path: tuple[str | int, ...], new: object) -> Any:  # noqa: ANN401 - any JSON
    """Return a JSON value with another at a place; Ellipsis takes the place away."""
    if not path:
        return new
    copy = value.copy()
    if len(path) == 1 and new is ...:
        del copy[path[0]]
    else:
        copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


@st.composite
def mutated(draw: st.DrawFn) -> Any:  # noqa: ANN401 - any JSON
    """Draw a message of which something is wrong, or nothing."""
    message: Any = {"jsonrpc": "2.0", **draw(st.sampled_from(MESSAGES))}
    odd = st.sampled_from([*ODD, ...]) | st.integers(1, 40).map(nested)
    for _ in range(draw(st.integers(0, 2))):
        path = draw(st.sampled_from(paths(message)))
        new = draw(odd)
        message = replaced(message, path, None if not path and new is ... else new)
        if isinstance(message, dict) and draw(st.booleans()):
            message = {**message, draw(st.sampled_from(["id", "method", "result", "error", "params", "x"])): draw(odd)}
            message = {key: None if value is ... else value for key, value in message.items()}
    if isinstance(message, dict) and message.get("method") in ("exit", "shutdown"):
        return None
    return message


def encoded(message: object) -> bytes:
    """Return a message, or a body that is none, as it is sent."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def served(messages: list[Any]) -> list[dict[str, Any]]:
    """Return what a server answers to messages, the last being the end of the input."""
    reader, writer = os.pipe()

    def feed() -> None:
        with os.fdopen(writer, "wb") as pipe:
            pipe.writelines(encoded(message) for message in messages)

    feeding = threading.Thread(target=feed)
    feeding.start()
    out: list[bytes] = []
    with os.fdopen(reader, "rb") as pipe, Input(pipe.fileno()) as source:
        server = SynapseServer(Settings(), source.abandon)
        try:
            ended = transport.serve(server.protocol, source, out.append)
        finally:
            server.close()
            feeding.join(20)
    assert ended is transport.End.CLOSED
    return received(b"".join(out))


def received(data: bytes) -> list[dict[str, Any]]:
    """Return the messages in a stream."""
    frames, came = Frames(io.BytesIO(data), strict=True), []
    while (body := frames.next()) is not None:
        came.append(json.loads(body))
    return came


def check(messages: list[Any], came: list[dict[str, Any]]) -> None:
    """Each message that has an id and is no response has one answer, the last one a result; none holds a trace."""
    asking = [message for message in messages if isinstance(message, dict) and asks(message)]
    answers = [message for message in came if "method" not in message]
    wanted = Counter(repr(message["id"]) for message in asking)
    assert Counter(repr(answer["id"]) for answer in answers if answer["id"] is not None) == wanted
    assert [list(answer) for answer in answers if answer["id"] == "last"] == [["id", "jsonrpc", "result"]]
    assert all("data" not in message.get("error", {}) for message in answers)


def asks(message: dict[str, Any]) -> bool:
    """Return whether a message has an id that it can be answered to, and is no response."""
    number = message.get("id")
    valid = isinstance(number, str) or (type(number) is int and len(str(number)) <= 20)
    return valid and ("method" in message or not {"result", "error"} & message.keys())


FIRST = {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": EMPTY}
THEN = {"jsonrpc": "2.0", "method": "initialized", "params": {}}
LAST = {"jsonrpc": "2.0", "id": "last", "method": "synapse/status"}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(mutated(), min_size=1, max_size=25))
def test_after_any_messages_the_next_request_is_answered(messages: list[Any]) -> None:
    """And each request before it, once."""
    everything = [FIRST, THEN, *messages, LAST]
    check(everything, served(everything))


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(mutated(), min_size=1, max_size=10))
def test_before_initialize_nothing_is_done_and_each_request_is_answered(messages: list[Any]) -> None:
    """The first valid initialize opens the door."""
    first = [
        message for message in messages if not (isinstance(message, dict) and message.get("method") == "initialize")
    ]
    everything = [*first, FIRST, THEN, LAST]
    check(everything, served(everything))


@pytest.mark.parametrize("depth", [100, 300, 900, 980, 1000, 5000, 50_000])
@pytest.mark.parametrize("method", ["initialize", "synapse/search", "textDocument/hover", "workspace/executeCommand"])
def test_what_is_nested_deep_is_answered(method: str, depth: int) -> None:
    """By a refusal, with the id where it can be read; the next request is answered."""
    deep = b'{"a":[' * depth + b"]}" * depth
    body = b'{"jsonrpc": "2.0", "id": 7, "method": "%b", "params": {"query": %b, "arguments": [%b]}}'
    came = served([FIRST, THEN, body % (method.encode(), deep, deep), LAST])
    answers = [message for message in came if "method" not in message]
    assert sum(answer["id"] in (7, None) and "error" in answer for answer in answers) == 1
    check([FIRST, LAST], [answer for answer in answers if answer["id"] not in (7, None)])


def test_a_notification_with_an_id_is_refused() -> None:
    """Whoever waits for an answer gets one."""
    opened = {"textDocument": {"uri": "file:///v/a.md", "languageId": "markdown", "version": 1, "text": "x"}}
    message = {"jsonrpc": "2.0", "id": 0, "method": "textDocument/didOpen", "params": opened}
    answers = [answer for answer in served([FIRST, THEN, message, LAST]) if answer.get("id") == 0]
    assert [answer["error"]["code"] for answer in answers] == [-32600]
