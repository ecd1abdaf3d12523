"""Messages that are none, or that leave things out: each request is answered, and the connection lives on."""

import json
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.e2e.test_lifecycle import EMPTY, converse, notification, request, responses

BAD = "file://[x"


def framed(body: bytes, header: bytes = b"Content-Length") -> bytes:
    """Return a body as it is sent."""
    return b"%b: %d\r\n\r\n%b" % (header, len(body), body)


def encoded(message: dict[str, Any]) -> bytes:
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
        (b'[{"jsonrpc": "2.0", "id": 7, "method": "synapse/status"}]', None, lsp.ErrorCodes.InvalidRequest),
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
