"""What the server logs, and that no note's text is in it."""

import stat
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, serving, write
from tests.e2e.test_lifecycle import EMPTY, NO_MODEL, converse, notification, request, responses

MARK = "zyxmarker"


def log_of(cache: Path) -> str:
    """Return the server's log."""
    return (cache / "logs" / "synapse-ls.log").read_text()


def test_the_log_begins_and_ends_with_the_server(cache: Path) -> None:
    """It is its owner's alone."""
    converse(cache, request(1, "initialize", EMPTY), request(2, "shutdown"), notification("exit"))
    first, *_, last = log_of(cache).splitlines()
    assert "starts: Python 3." in first
    assert last.endswith("synapse-ls ends")
    assert stat.S_IMODE((cache / "logs").stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in (cache / "logs").iterdir()] == [0o600]


def test_a_log_that_cannot_be_written_is_told_and_the_server_serves(cache: Path) -> None:
    """In one line."""
    cache.write_text("no folder")
    code, received, err = converse(
        cache, request(1, "initialize", EMPTY), request(2, "shutdown"), notification("exit")
    )  # fmt: skip
    assert responses(received)[2]["result"] is None
    assert code == 0
    assert [line for line in err.splitlines() if "log" in line] == err.splitlines()
    assert len(err.splitlines()) == 1


def test_what_is_not_the_protocol_ends_the_server_in_one_line(cache: Path) -> None:
    """With exit code 1; a request of HTTP is no typing error."""
    code, received, err = converse(cache, end=b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (code, received) == (1, [])
    assert err == "synapse-ls: what came in is not the Language Server Protocol\n"


BROKEN = {
    "Good.md": f"---\ntitle: {MARK}\ntags: [{MARK}]\n---\n\n# {MARK}\n\nSee [[{MARK} x]] and #{MARK}.\n",
    "Yaml.md": f"---\ntitle: [{MARK}\n{MARK}: : {MARK}\n---\n{MARK}\n",
    "Half.md": f"{MARK} \udcff \x00 {MARK}\n",
    "Long.md": f"{MARK} " * 50_000,
}


async def current(editor: Editor) -> None:
    """Wait until the note that came is there."""

    async def known() -> bool:
        return any(symbol.location.uri.endswith("New.md") for symbol in await editor.symbols("New"))

    await editor.eventually(known)


@pytest.mark.asyncio(loop_scope="session")
async def test_no_text_of_a_note_a_buffer_or_a_query_is_logged(tmp_path: Path, cache: Path) -> None:
    """Whatever is indexed, typed, asked and broken; not in the file, on standard error or in the client's log."""
    root = tmp_path / "vault"
    write(root, {name: text.encode("utf-8", "surrogateescape").decode("latin-1") for name, text in BROKEN.items()})
    (root / "Bytes.md").write_bytes(b"\xff\xfe" + MARK.encode() + b"\xff" * 10)
    (root / "Closed.md").write_text(MARK)
    (root / "Closed.md").chmod(0)
    errors = tmp_path / "stderr"
    async with serving([root], cache, options=NO_MODEL, prefix=["sh", "-c", f'exec "$@" 2>{errors}', "sh"]) as editor:
        await editor.settled()
        path = root / "Good.md"
        editor.open(path, f"# {MARK}\n\n[[{MARK}\n" + f"\ud800{MARK}")
        bad: list[Any] = [{"text": [MARK]}, {"text": MARK, "range": {"start": MARK}}, MARK]
        for change in bad:
            params = {"textDocument": {"uri": path.as_uri(), "version": 2}, "contentChanges": [change]}
            editor.protocol._send_data({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params})
        editor.protocol._send_data({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"text": MARK}})
        editor.protocol._send_data({"jsonrpc": "2.0", "method": f"x/{MARK}", "params": {"text": MARK}})
        editor.protocol._send_data({"jsonrpc": "2.0", "id": f"{MARK}", "result": MARK})
        for query in (MARK, f'"{MARK}', f"{MARK}:{MARK} AND (", f"tag:{MARK} -{MARK}*", f"\ud800{MARK}\0"):
            await editor.search(query, session=MARK)
            await editor.symbols(query)
        wrong: list[Any] = [
            {"query": [MARK]},
            {"query": MARK, "filter": {"modifiedAfter": MARK}},
            {"query": MARK, "limit": MARK},
        ]
        for search in wrong:
            with pytest.raises(Exception, match="must be"):
                await editor.ask("synapse/search", search)
        await editor.hover(path, 2, 4)
        write(root, {"Good.md": f"# {MARK} again\n" * 3, "New.md": f"{MARK}\n"})
        (root / "Yaml.md").unlink()
        await current(editor)
        editor.close(path)
        told = [message.message for message in editor.log_messages]
    assert "ends" in log_of(cache)
    assert MARK not in log_of(cache)
    assert MARK not in errors.read_text()
    assert not [line for line in told if MARK in line]


def test_the_clients_log_is_silent_before_it_is_initialized(cache: Path) -> None:
    """And after the end has been asked for."""
    _, received, _ = converse(
        cache,
        {"jsonrpc": "2.0", "method": "initialized"},
        request(1, "initialize", EMPTY),
        request(2, "shutdown"),
        notification("exit"),
        end=b"",
    )
    assert [message for message in received if message.get("method") == "window/logMessage"] == []
