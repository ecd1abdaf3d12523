"""Messages that are none, or that leave things out: each request is answered, and the connection lives on."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsprotocol import types as lsp

from tests.e2e.test_lifecycle import EMPTY, converse, notification, request, responses
from tests.unit.lsp.test_protocol import FIRST, LAST, THEN, check, mutated

BAD = "file://[x"


def framed(body: bytes, header: bytes = b"Content-Length") -> bytes:
    """Return a body as it is sent."""
    return b"%b: %d\r\n\r\n%b" % (header, len(body), body)


def encoded(message: object) -> bytes:
    """Return a message as it is sent."""
    return framed(json.dumps(message).encode())


@pytest.mark.parametrize(
    ("body", "number", "code"),
    [
        (b"{not json", None, lsp.ErrorCodes.ParseError),
        (b"", None, lsp.ErrorCodes.ParseError),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "synapse/search", "params": {"query": "\xff"}}', None,
         lsp.ErrorCodes.ParseError),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "synapse/search", "params": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
         None, lsp.ErrorCodes.ParseError),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "synapse/search", "params": {"query": "x", "limit": ' + b"9" * 5000
         + b"}}", 7, lsp.ErrorCodes.InvalidParams),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "synapse/search", "params": {"query": "x", "limit": NaN}}', None,
         lsp.ErrorCodes.ParseError),
        ('{"jsonrpc": "2.0", "id": 7, "method": "synapse/status"}'.encode("utf-16"), None, lsp.ErrorCodes.ParseError),
        (b'[{"jsonrpc": "2.0", "id": 7, "method": "synapse/status"}]', None, lsp.ErrorCodes.InvalidRequest),
        (b'{"jsonrpc": "2.0"}', None, lsp.ErrorCodes.InvalidRequest),
        (b'{"jsonrpc": "2.0", "id": 7}', 7, lsp.ErrorCodes.InvalidRequest),
        (b'{"jsonrpc": "2.0", "id": null, "method": "synapse/status"}', None, lsp.ErrorCodes.InvalidRequest),
        (b'{"jsonrpc": "2.0", "id": 7.5, "method": "synapse/status"}', None, lsp.ErrorCodes.InvalidRequest),
        (b'{"jsonrpc": "2.0", "id": true, "method": "synapse/status"}', None, lsp.ErrorCodes.InvalidRequest),
        (b'{"jsonrpc": "2.0", "id": [7], "method": "synapse/status"}', None, lsp.ErrorCodes.InvalidRequest),
        (b'{"jsonrpc": "2.0", "id": 7, "method": 7}', 7, lsp.ErrorCodes.InvalidRequest),
        (b'{"id": 7, "method": "synapse/status"}', 7, lsp.ErrorCodes.InvalidRequest),
    ],
)  # fmt: skip
def test_what_is_no_message_is_answered_with_an_error(
    cache: Path, body: bytes, number: int | None, code: lsp.ErrorCodes
) -> None:
    """With the id where it can be read; the next request is answered."""
    after = encoded(request(2, "synapse/status", {}))
    _, received, err = converse(cache, request(1, "initialize", EMPTY), end=framed(body) + after)
    answers = responses(received)
    assert answers[number]["error"]["code"] == code  # type: ignore[index]  # a message without an id is answered to none
    assert answers[2]["result"]["vaults"] == []
    assert "Traceback" not in err


def test_headers_may_be_written_in_small_letters_and_with_others(cache: Path) -> None:
    """As HTTP has it."""
    body = json.dumps(request(2, "synapse/status")).encode()
    end = b"content-type: application/vscode-jsonrpc\r\n" + framed(body, b"content-length")
    _, received, _ = converse(
        cache, request(1, "initialize", EMPTY), end=end + encoded(request(3, "synapse/status", {}))
    )
    assert {2, 3} <= set(responses(received))


def test_parameters_may_be_left_out_and_unknown_members_are_passed_over(cache: Path) -> None:
    """InvalidParams where they are needed."""
    code, received, err = converse(
        cache,
        request(1, "initialize", EMPTY),
        {"jsonrpc": "2.0", "method": "initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "synapse/status"},
        {"jsonrpc": "2.0", "id": 3, "method": "synapse/search"},
        {"jsonrpc": "2.0", "id": 4, "method": "workspace/symbol"},
        {"jsonrpc": "2.0", "id": 5, "method": "no/such/method"},
        {"jsonrpc": "2.0", "id": 6, "method": "synapse/status", "params": {}, "traceparent": "00-1"},
        {"jsonrpc": "2.0", "id": 7, "method": "shutdown"},
        {"jsonrpc": "2.0", "method": "exit"},
    )
    answers = responses(received)
    refused = {number: answer["error"]["code"] for number, answer in answers.items() if "error" in answer}
    invalid, unknown = lsp.ErrorCodes.InvalidParams, lsp.ErrorCodes.MethodNotFound
    assert refused == {3: invalid, 4: invalid, 5: unknown}
    assert "Traceback" not in err
    assert code == 0


def test_a_second_initialize_is_refused(cache: Path) -> None:
    """The first one stands."""
    general = {"general": {"positionEncodings": ["utf-8"]}}
    _, received, _ = converse(
        cache, request(1, "initialize", EMPTY), request(2, "initialize", {**EMPTY, "capabilities": general})
    )
    answers = responses(received)
    assert "result" in answers[1]
    assert answers[2]["error"]["code"] == lsp.ErrorCodes.InvalidRequest


def test_a_uri_that_is_none_names_no_file(small: Path, cache: Path) -> None:
    """As a folder, as a document and as the note to be near; the others in its list count."""
    uri = (small / "Car.md").as_uri()
    folders = [{"uri": BAD, "name": "bad"}, {"uri": f"file://localhost{small}", "name": "vault"}]
    hover = {"textDocument": {"uri": BAD}, "position": {"line": 0, "character": 0}}
    item = {"uri": BAD, "languageId": "markdown", "version": 1, "text": "x"}
    changed = {"changes": [{"uri": BAD, "type": 2}, {"uri": uri, "type": 2}]}
    _, received, err = converse(
        cache,
        request(1, "initialize", {**EMPTY, "rootUri": BAD, "workspaceFolders": folders}),
        notification("initialized", {}),
        notification("textDocument/didOpen", {"textDocument": item}),
        notification("workspace/didChangeWatchedFiles", changed),
        notification("textDocument/didSave", {"textDocument": {"uri": BAD}}),
        notification("workspace/didChangeWorkspaceFolders", {"event": {"added": folders[:1], "removed": folders[:1]}}),
        request(2, "textDocument/hover", hover),
        request(3, "synapse/search", {"query": "radiator", "near": BAD}),
        request(4, "synapse/status"),
    )
    answers = responses(received)
    assert answers[2]["result"] is None
    assert "result" in answers[3]
    assert [vault["root"] for vault in answers[4]["result"]["vaults"]] == [f"file://localhost{small}"]
    assert err == ""


def test_a_query_for_symbols_is_a_text(cache: Path) -> None:
    """A number is not taken for one."""
    _, received, _ = converse(
        cache, request(1, "initialize", EMPTY), request(2, "workspace/symbol", {"query": 5})
    )  # fmt: skip
    assert responses(received)[2]["error"]["code"] == lsp.ErrorCodes.InvalidParams


def test_standard_error_has_one_line_for_each_kind_of_nonsense(cache: Path) -> None:
    """However often it comes, and without what was sent."""
    nonsense = [
        message
        for number in range(10, 40)
        for message in (
            request(number, "textDocument/hover", {"textDocument": "secret"}),
            notification("textDocument/didOpen", {"textDocument": "secret"}),
            notification("secret/notification", {"text": "secret"}),
            notification("$/cancelRequest", {"id": number}),
            request(1000 + number, "secret/request", {"text": "secret"}),
        )
    ]
    _, _, err = converse(cache, request(1, "initialize", EMPTY), notification("initialized", {}), *nonsense)
    assert "secret" not in err
    assert "Traceback" not in err
    lines = err.splitlines()
    assert len(lines) == len(set(lines)) <= 6


def test_a_message_that_is_too_long_is_answered_and_read_past(cache: Path) -> None:
    """The next one is heard."""
    length = 256 * 1024 * 1024 + 1
    end = b"Content-Length: %d\r\n\r\n" % length + bytes(length) + encoded(request(2, "synapse/status"))
    _, received, _ = converse(cache, request(1, "initialize", EMPTY), end=end)
    answers = responses(received)
    assert answers[None]["error"]["code"] == lsp.ErrorCodes.InvalidRequest  # type: ignore[index]  # it answers to no id
    assert answers[2]["result"]["vaults"] == []


@pytest.mark.parametrize("header", [b"Content-Length: -5", b"Content-Length: 5\r\nContent-Length: 6", b"hello"])
def test_a_header_that_is_none_is_answered_and_passed_over(cache: Path, header: bytes) -> None:
    """The next message is heard, although the body is taken for a header."""
    end = header + b'\r\n\r\n{"a":1}' + encoded(request(2, "synapse/status"))
    _, received, _ = converse(cache, request(1, "initialize", EMPTY), end=end)
    answers = responses(received)
    assert answers[None]["error"]["code"] == lsp.ErrorCodes.InvalidRequest  # type: ignore[index]  # it answers to no id
    assert answers[2]["result"]["vaults"] == []


def test_requests_with_one_id_are_answered_once_each(cache: Path) -> None:
    """Both of them."""
    twice = request(7, "synapse/status")
    _, received, _ = converse(
        cache,
        request(1, "initialize", EMPTY),
        notification("initialized", {}),
        twice,
        twice,
        request(8, "synapse/status"),
    )
    assert [message["result"]["vaults"] for message in received if message.get("id") == 7] == [[], []]
    assert sum(message.get("id") == 8 for message in received) == 1


def test_answers_and_cancellations_of_what_was_never_asked_are_passed_over(cache: Path) -> None:
    """Also if their id is that of a request under way, and whatever is in them."""
    ids: list[Any] = [7, 1, "x", None, 10**30, -1, 1.5, True, [], {}]
    nonsense: list[dict[str, object]] = [
        notification("$/cancelRequest", {"id": number}) for number in ids if number != 7
    ]
    odd: list[object] = [None, [], 7, {}, {"id": 3, "x": 1}]
    nonsense += [notification("$/cancelRequest", params) for params in odd]
    nonsense += [{"jsonrpc": "2.0", "id": number, "result": {}} for number in ids]
    nonsense += [{"jsonrpc": "2.0", "id": number, "error": {"code": 1, "message": "x"}} for number in ids]
    nonsense += [{"jsonrpc": "2.0", "id": number, "error": 5} for number in ids]
    _, received, err = converse(
        cache,
        request(1, "initialize", EMPTY),
        notification("initialized", {}),
        request(7, "synapse/search", {"query": "x"}),
        *nonsense,
        request(8, "synapse/status"),
    )
    answers = responses(received)
    assert answers[7]["error"]["code"] == lsp.LSPErrorCodes.RequestFailed
    assert set(answers) == {1, 7, 8}
    assert "Traceback" not in err


def test_a_cancelled_request_is_answered_once(cache: Path) -> None:
    """Whether it was still under way or not."""
    asked = [request(number, "synapse/search", {"query": "x"}) for number in range(10, 30)]
    cancelled = [notification("$/cancelRequest", {"id": number}) for number in range(10, 30)]
    pairs = [message for pair in zip(asked, cancelled, strict=True) for message in pair]
    _, received, _ = converse(cache, request(1, "initialize", EMPTY), notification("initialized", {}), *pairs)
    assert set(range(10, 30)) <= set(responses(received))


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(messages=st.lists(mutated(), min_size=30, max_size=60))
def test_any_messages_leave_the_process_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, messages: list[Any]
) -> None:
    """Each request is answered once, and standard error has no trace."""
    everything = [FIRST, THEN, *messages, LAST]
    cache = tmp_path_factory.mktemp("cache")
    code, received, err = converse(cache, end=b"".join(map(encoded, everything)))
    check(everything, received)
    assert code == 1
    assert "Traceback" not in err
    assert "Traceback" not in (cache / "logs" / "synapse-ls.log").read_text()
