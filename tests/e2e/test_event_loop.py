"""The event loop is never kept waiting, measured against a loop that does nothing else in the same seconds."""

import asyncio
import json
import sys
from array import array
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.e2e.editor import Editor, serving, with_path, write

pytestmark = pytest.mark.asyncio(loop_scope="session")

NO_MODEL = {"embedding": {"model": "none"}}
BENCH = Path(__file__).parents[2] / "bench"
LINE = "The tide carries the lantern near the harbour, as it did before, {:07}.\n"

# Lets the server's loop tick as the bare loop does.
TICKS = """
import sys
sys.path.append({bench!r})
import pathlib, ticking
ticking.tick_beside(pathlib.Path({file!r}))
"""

# Writes down what the loop's thread calls that may wait: files, SQL, models. Python tells a profiler of every call of
# something that is not Python. Of the system's functions these wait for nothing; what is written is a mark in a pipe.
# A look at the disk of its own, in the end, shows that it would have been seen.
CALLS = """
import asyncio, json, os, pathlib, sys
RUN, HARMLESS = asyncio.run, {{"cpu_count", "fspath", "getpid", "kill", "pidfd_open", "urandom", "write"}}
found = {{}}

def called(frame, event, function):
    if event != "c_call":
        return
    home = function.__module__ or type(function.__self__).__module__
    waits = home in ("posix", "nt") and function.__name__ not in HARMLESS
    if waits or home in ("_io", "io", "apsw") or home.startswith(("onnxruntime", "tokenizers", "apsw", "numpy")):
        found[f"{{function.__qualname__}} in {{frame.f_code.co_qualname}}"] = frame.f_lineno

async def watched(main):
    asyncio.get_running_loop().call_later(0, sys.setprofile, called)
    try:
        return await main
    finally:
        os.stat(".")
        sys.setprofile(None)
        pathlib.Path({file!r}).write_text(json.dumps(found))

asyncio.run = lambda main, **options: RUN(watched(main), **options)
"""


@asynccontextmanager
async def bare_loop(file: Path) -> AsyncIterator[None]:
    """Let a loop of a process of its own tick meanwhile."""
    command = [sys.executable, str(BENCH / "ticking.py"), "bare", str(file)]
    process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE)
    try:
        yield
    finally:
        await process.communicate(b"")


def moments_in(file: Path) -> "array[float]":
    """Return the moments of the ticks of a loop."""
    moments = array("d")
    moments.frombytes(file.read_bytes())
    return moments


def gap(moments: Iterable[float], share: float) -> float:
    """Return the gap between two ticks, in milliseconds, that this share of all does not exceed."""
    ordered = sorted((after - before) * 1000 for before, after in pairwise(moments))
    return ordered[int(len(ordered) * share)]


async def work(editor: Editor, root: Path, notes: int, lines: int) -> None:
    """Write many notes, open a huge one and type into it, ask meanwhile, until all is current."""
    before = await editor.settled()
    write(root, {f"{i % 10}/{i}.md": f"# Note {i}\n\nSee [[{i + 1}]]. {LINE.format(i) * 5}" for i in range(notes)})
    huge = root / "huge.md"
    editor.open(huge, "\n".join(LINE.format(i) for i in range(lines)))
    for version, letter in enumerate("light", 2):
        at = lsp.Position(version * 100, 5)
        change = lsp.TextDocumentContentChangePartial(lsp.Range(at, at), letter)
        document = lsp.VersionedTextDocumentIdentifier(version, huge.as_uri())
        editor.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))
        await editor.search("lantern harbour", mode="lexical")
        await editor.symbols("note")
    await editor.until(lambda vault: vault["notes"] >= before["notes"] + notes and not vault["pending"])
    editor.close(huge)


async def test_the_longest_gaps_are_like_those_of_a_bare_loop(small: Path, cache: Path, tmp_path: Path) -> None:
    """A thousand notes appear, one of five megabytes is opened and typed into."""
    ticks = tmp_path / "server.ticks"
    (tmp_path / "sitecustomize.py").write_text(TICKS.format(bench=str(BENCH), file=str(ticks)))
    async with (
        bare_loop(tmp_path / "bare.ticks"),
        serving([small], cache, options=NO_MODEL, environment=with_path(tmp_path)) as editor,
    ):
        await work(editor, small, 1000, 5_000_000 // len(LINE))
    server, bare = moments_in(ticks), moments_in(tmp_path / "bare.ticks")
    meanwhile = [moment for moment in bare if server[0] <= moment <= server[-1]]
    # Generous, for other tests may run beside: a loop that parsed the note itself would be late by a second.
    for share, factor in ((0.99, 15), (0.999, 30)):
        assert gap(server, share) <= factor * max(gap(meanwhile, share), 5.0)


async def test_the_loop_touches_no_disk_no_database_and_no_model(small: Path, cache: Path, tmp_path: Path) -> None:
    """From the first message to the last, whatever is asked for."""
    calls = tmp_path / "calls.json"
    (tmp_path / "sitecustomize.py").write_text(CALLS.format(file=str(calls)))
    async with serving([small], cache, environment=with_path(tmp_path)) as editor:
        await work(editor, small, 10, 5_000)
        note = small / "Cat.md"
        editor.open(note, note.read_text())
        await editor.hover(note, 2, 42)
        await editor.definition(note, 2, 42)
        await editor.references(note, 0, 3)
        await editor.search("an animal asleep in the warmth", near=note.as_uri(), session="typing")
        await editor.workspace_execute_command_async(lsp.ExecuteCommandParams("synapse.reindex"))
        await editor.workspace_execute_command_async(lsp.ExecuteCommandParams("synapse.rebuildIndex"))
        editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams({"search": {"limit": 3}}))
        editor.text_document_did_save(lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(note.as_uri())))
        editor.close(note)
        await editor.settled()
    assert list(json.loads(calls.read_text())) == ["stat in watched"]
