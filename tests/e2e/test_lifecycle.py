"""From the first message to the exit code."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound

from tests.e2e.editor import COMMAND, TIMEOUT, Editor, environment_of, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

NO_MODEL = {"embedding": {"model": "none"}}
EMPTY: dict[str, Any] = {"capabilities": {}, "processId": None, "rootUri": None}


def request(number: int, method: str, params: object = None) -> dict[str, object]:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def notification(method: str, params: object = None) -> dict[str, object]:
    """Return a notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def converse(cache: Path, *messages: dict[str, object], end: bytes = b"") -> tuple[int, list[dict[str, Any]], str]:
    """Send everything at once; returns exit code, every message on standard output, and standard error.

    Fails if standard output holds anything but messages.
    """
    bodies = [json.dumps(message).encode() for message in messages]
    sent = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    done = subprocess.run(
        [*COMMAND, "serve"], input=sent + end, capture_output=True, timeout=TIMEOUT, env=environment_of(cache),
        check=False,
    )  # fmt: skip
    rest, received = done.stdout, []
    while rest:
        head = re.match(rb"(?:[\w-]+: [^\r\n]*\r\n)*?Content-Length: (\d+)\r\n(?:[\w-]+: [^\r\n]*\r\n)*\r\n", rest)
        assert head is not None, rest[:200]
        received.append(json.loads(rest[head.end() : head.end() + int(head[1])]))
        rest = rest[head.end() + int(head[1]) :]
    return done.returncode, received, done.stderr.decode()


def responses(received: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """Return the responses by the id of their request, each of which may have one only."""
    answered = [message for message in received if "id" in message and "method" not in message]
    by_id = {message["id"]: message for message in answered}
    assert len(by_id) == len(answered), answered
    return by_id


async def test_a_whole_conversation_holds_nothing_but_protocol(cache: Path) -> None:
    """Standard output is made of messages, standard error is silent, the exit code is 0."""
    code, received, err = converse(
        cache,
        request(1, "initialize", EMPTY),
        notification("initialized", {}),
        request(2, "shutdown"),
        notification("exit"),
    )
    answers = responses(received)
    assert code == 0
    assert err == ""
    assert set(answers) == {1, 2}
    assert answers[2]["result"] is None


async def test_requests_before_initialize_are_refused(cache: Path) -> None:
    """ServerNotInitialized; the connection lives on."""
    code, received, _ = converse(
        cache,
        request(1, "synapse/search", {"query": "x"}),
        request(2, "workspace/symbol", {"query": "x"}),
        request(3, "synapse/status"),
        request(4, "initialize", EMPTY),
        request(5, "shutdown"),
        notification("exit"),
    )  # fmt: skip
    answers = responses(received)
    assert [answers[number]["error"]["code"] for number in (1, 2, 3)] == [lsp.ErrorCodes.ServerNotInitialized] * 3
    assert "result" in answers[4]
    assert code == 0


async def test_requests_after_shutdown_are_refused(cache: Path) -> None:
    """InvalidRequest until the exit."""
    code, received, _ = converse(
        cache,
        request(1, "initialize", EMPTY),
        notification("initialized", {}),
        request(2, "shutdown"),
        request(3, "synapse/search", {"query": "x"}),
        request(4, "workspace/symbol", {"query": "x"}),
        notification("exit"),
    )
    answers = responses(received)
    assert [answers[number]["error"]["code"] for number in (3, 4)] == [lsp.ErrorCodes.InvalidRequest] * 2
    assert code == 0


async def test_an_exit_without_shutdown_is_an_error(cache: Path) -> None:
    """Exit code 1, as the protocol wants it."""
    code, received, _ = converse(cache, request(1, "initialize", EMPTY), notification("exit"))
    assert "result" in responses(received)[1]
    assert code == 1


async def test_the_server_ends_when_its_input_does(cache: Path) -> None:
    """An editor that crashed leaves no server behind."""
    _, received, _ = converse(cache, request(1, "initialize", EMPTY), notification("initialized", {}))
    assert "result" in responses(received)[1]


async def test_a_status_between_initialize_and_initialized_lists_the_vaults(small: Path, cache: Path) -> None:
    """Nothing is opened yet, and no count is made up."""
    folders = [{"uri": small.as_uri(), "name": "vault"}]
    _, received, _ = converse(
        cache,
        request(1, "initialize", {**EMPTY, "workspaceFolders": folders}),
        request(2, "synapse/status", {}),
    )
    (vault,) = responses(received)[2]["result"]["vaults"]
    assert (vault["root"], vault["state"], vault["notes"]) == (small.as_uri(), "starting", 0)


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (None, "utf-16"),
        (["utf-16", "utf-8"], "utf-16"),
        (["utf-32", "utf-8", "utf-16"], "utf-32"),
        (["utf-7", "utf-8"], "utf-8"),
        (["utf-7"], "utf-16"),
    ],
)
async def test_initialize_names_capabilities_and_the_first_known_encoding(
    cache: Path, offered: list[str] | None, chosen: str
) -> None:
    """The client's first choice that is known; UTF-16 where it says nothing."""
    capabilities = {} if offered is None else {"general": {"positionEncodings": offered}}
    _, received, _ = converse(cache, request(1, "initialize", {**EMPTY, "capabilities": capabilities}))
    result = responses(received)[1]["result"]
    assert result["serverInfo"]["name"] == "synapse-ls"
    has = result["capabilities"]
    assert has["positionEncoding"] == chosen
    assert has["workspaceSymbolProvider"]
    assert has["hoverProvider"]
    assert has["definitionProvider"]
    assert has["referencesProvider"]
    assert has["implementationProvider"]
    sync = has["textDocumentSync"]
    assert (sync["openClose"], sync["change"]) == (True, lsp.TextDocumentSyncKind.Incremental)
    assert has["workspace"]["workspaceFolders"] == {"supported": True, "changeNotifications": True}
    for absent in ("completionProvider", "renameProvider", "diagnosticProvider"):
        assert absent not in has


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/rename", lsp.RenameParams(lsp.TextDocumentIdentifier("file:///a.md"), lsp.Position(0, 0), "b")),
        (
            "textDocument/completion",
            lsp.CompletionParams(lsp.TextDocumentIdentifier("file:///a.md"), lsp.Position(0, 0)),
        ),
        ("no/such/method", {}),
    ],
)
async def test_an_unknown_request_is_told_so(editor: Editor, method: str, params: object) -> None:
    """MethodNotFound, and the next request is answered."""
    with pytest.raises(JsonRpcMethodNotFound):
        await editor.ask(method, params)
    assert (await editor.vault())["state"] == "ready"


async def test_parameters_of_a_wrong_shape_are_refused(cache: Path) -> None:
    """InvalidParams for each, and the server lives on."""
    wrong = [
        ("textDocument/hover", {"textDocument": 3}),
        ("textDocument/hover", {"textDocument": {"uri": "file:///a.md"}, "position": {"line": "x", "character": 0}}),
        ("textDocument/hover", None),
        ("workspace/symbol", {}),
        ("workspace/symbol", ["x"]),
        ("synapse/search", None),
        ("synapse/search", {"query": {}}),
        ("synapse/backlinks", None),
        ("synapse/backlinks", {"uri": "file:///a.md", "limit": 1001}),
        ("synapse/related", None),
        ("synapse/related", {"uri": 3}),
        ("synapse/related", {"uri": "file:///a.md", "position": {"line": "x"}}),
        ("synapse/related", {"uri": "file:///a.md", "limit": 0}),
    ]
    code, received, _ = converse(
        cache,
        request(1, "initialize", EMPTY),
        notification("initialized", {}),
        *(request(number, method, params) for number, (method, params) in enumerate(wrong, 10)),
        request(2, "synapse/status"),
        request(3, "shutdown"),
        notification("exit"),
    )
    answers = responses(received)
    codes = [answers[number].get("error", {}).get("code") for number in range(10, 10 + len(wrong))]
    assert codes == [lsp.ErrorCodes.InvalidParams] * len(wrong)
    assert answers[2]["result"]["vaults"] == []
    assert code == 0


async def test_unknown_notifications_are_passed_over(editor: Editor) -> None:
    """With or without the mark of optional ones."""
    editor.protocol.notify("$/setTrace", lsp.SetTraceParams(lsp.TraceValue.Off))
    editor.protocol.notify("no/such/notification", {})
    editor.protocol.notify("workspace/didChangeConfiguration", lsp.DidChangeConfigurationParams(settings=None))
    assert (await editor.vault())["state"] == "ready"
    assert editor.messages == []


async def test_a_message_that_is_not_json_does_not_end_the_connection(cache: Path) -> None:
    """The next request is answered."""
    body = b"{not json"
    broken = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    after = json.dumps(request(2, "synapse/status", {})).encode()
    _, received, _ = converse(
        cache, request(1, "initialize", EMPTY), end=broken + b"Content-Length: %d\r\n\r\n%b" % (len(after), after)
    )
    assert responses(received)[2]["result"]["vaults"] == []


async def test_without_a_folder_a_search_says_what_to_open(cache: Path) -> None:
    """No folder at all is no error until something is asked."""
    async with serving([], cache) as editor:
        assert (await editor.status())["vaults"] == []
        assert await editor.symbols("x") == []
        with pytest.raises(JsonRpcException, match="open the folder"):
            await editor.search("x")


async def test_a_folder_that_is_not_there_is_told_and_the_others_answer(small: Path, cache: Path) -> None:
    """One vault failed, one ready."""
    missing = small.parent / "missing"
    async with serving([small, missing], cache, options=NO_MODEL) as editor:
        await editor.settled()

        async def told() -> bool:
            return [vault["state"] for vault in (await editor.status())["vaults"]] == ["ready", "failed"]

        await editor.eventually(told)
        failed = (await editor.status())["vaults"][1]
        assert "missing" in failed["lastError"]
        assert any("missing" in message.message for message in editor.messages)
