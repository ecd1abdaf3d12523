"""Open notes: what is on screen is what is known, until it is closed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types as lsp

from tests.e2e.editor import TIMEOUT, Editor, paths, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

TYPED = (
    "# Old car\n\nThe zylophant engine was sold.\n\n## Zweitwagen\n\nA second vehicle, bought used from a neighbour.\n"
)


@pytest_asyncio.fixture(loop_scope="session")
async def live(small: Path, cache: Path) -> AsyncIterator[Editor]:
    """An editor on a small vault of its own, its index current."""
    async with serving([small], cache) as editor:
        await editor.settled()
        yield editor


async def soon(met: Callable[[], Awaitable[bool]]) -> None:
    """Ask again and again until a condition is met: nobody tells of typing."""
    async with asyncio.timeout(TIMEOUT):
        while not await met():  # noqa: ASYNC110 - nobody tells of typing
            await asyncio.sleep(0.02)


async def best(editor: Editor, root: Path, query: str, mode: str = "hybrid") -> str | None:
    """Return the path of the best hit."""
    return next(iter(paths(root, await editor.search(query, mode=mode))), None)


async def test_typed_words_are_found_and_gone_when_closed_unsaved(live: Editor, small: Path) -> None:
    """The file stays as it is, and so does the index on disk."""
    note = small / "Car.md"
    before = await live.vault()
    live.open(note, TYPED)

    async def shown() -> bool:
        return await best(live, small, "zylophant", "lexical") == "Car.md"

    await soon(shown)
    assert paths(small, await live.search("motorway", mode="lexical")) == []
    answer = await live.search("zylophant", mode="lexical")
    assert answer["hits"][0]["range"]["start"] == {"line": 0, "character": 0}
    assert "zylophant engine" in answer["hits"][0]["snippet"]["text"]
    live.close(note)

    async def disk() -> bool:
        return await best(live, small, "motorway", "lexical") == "Car.md"

    await soon(disk)
    assert paths(small, await live.search("zylophant", mode="lexical")) == []
    after = await live.vault()
    assert (after["generation"], after["chunks"]) == (before["generation"], before["chunks"])
    assert after["counters"]["filesRead"] == before["counters"]["filesRead"]


async def test_typed_text_is_found_by_meaning_after_a_pause(live: Editor, small: Path) -> None:
    """Without being saved."""
    live.open(small / "Bread.md", "# Bread\n\nNeptune and Saturn have rings; Jupiter has many moons.\n")

    async def shown() -> bool:
        return await best(live, small, "planets of the solar system", "semantic") == "Bread.md"

    await soon(shown)


async def test_edits_of_every_kind_are_what_is_searched(live: Editor, small: Path) -> None:
    """Several changes in one notification, after characters of two units, each applied to the one before."""
    note = small / "Cat.md"
    live.open(note, "# Cat\n\n🐈 sleeps here\n")

    def change(line: int, start: int, end: int, text: str) -> lsp.TextDocumentContentChangePartial:
        where = lsp.Range(lsp.Position(line, start), lsp.Position(line, end))
        return lsp.TextDocumentContentChangePartial(range=where, text=text)

    changes = [change(2, 3, 9, "dreams"), change(2, 10, 14, "quibblewards")]
    live.text_document_did_change(
        lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(2, note.as_uri()), changes)
    )

    async def shown() -> bool:
        return await best(live, small, "dreams quibblewards", "lexical") == "Cat.md"

    await soon(shown)
    text = (await live.search("dreams quibblewards"))["hits"][0]["snippet"]["text"]
    assert "🐈 dreams quibblewards" in text


async def test_saving_what_is_on_screen_embeds_nothing_again(live: Editor, small: Path) -> None:
    """The vectors made while typing are those of the file."""
    note = small / "Car.md"
    text = "# Old car\n\nA lighthouse keeper counts the ships that pass at night.\n"
    live.open(note, text)

    async def meant() -> bool:
        return await best(live, small, "maritime beacon watchman", "semantic") == "Car.md"

    await soon(meant)
    before = await live.vault()
    note.write_text(text, "utf-8")
    live.text_document_did_save(lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(note.as_uri())))
    after = await live.settled(before["generation"])
    assert after["counters"]["chunksEmbedded"] == before["counters"]["chunksEmbedded"]
    live.close(note)

    async def from_disk() -> bool:
        return await best(live, small, "maritime beacon watchman", "semantic") == "Car.md"

    await soon(from_disk)


async def test_symbols_and_hover_speak_of_the_screen(live: Editor, small: Path) -> None:
    """Headings of a buffer are symbols, and the preview of a link to an open note shows what is typed there."""
    live.open(small / "Car.md", TYPED)
    live.open(small / "Cat.md", "See [[Car]].\n")

    async def listed() -> bool:
        return "Zweitwagen" in [symbol.name for symbol in await live.symbols("zweitwagen")]

    await soon(listed)
    shown = await live.hover(small / "Cat.md", 0, 6)
    assert shown is not None
    assert isinstance(shown.contents, lsp.MarkupContent)
    assert "zylophant" in shown.contents.value


async def test_a_note_that_was_never_saved_is_found(live: Editor, small: Path) -> None:
    """It has no file yet."""
    live.open(small / "New.md", "# Fresh\n\nMarmaduke the tortoise.\n")

    async def shown() -> bool:
        return await best(live, small, "marmaduke tortoise") == "New.md"

    await soon(shown)
    live.close(small / "New.md")

    async def gone() -> bool:
        return paths(small, await live.search("marmaduke", mode="lexical")) == []

    await soon(gone)


async def test_a_buffer_that_does_not_belong_to_the_vault_stays_out(live: Editor, small: Path) -> None:
    """Ignored folders and other endings."""
    live.open(small / ".hidden" / "x.md", "# X\n\nverbotenword\n")
    live.open(small / "x.txt", "verbotenword\n")
    live.open(small / "Car.md", "# Old car\n\nallowedword\n")

    async def shown() -> bool:
        return await best(live, small, "allowedword", "lexical") == "Car.md"

    await soon(shown)
    assert paths(small, await live.search("verbotenword", mode="lexical")) == []


async def test_definition_and_references_speak_of_the_screen(live: Editor, small: Path) -> None:
    """A heading is where it was typed, and links are where they are now."""
    live.open(small / "Bread.md", "first\n\n# Bread\n\n## Crust\n")
    live.open(small / "Cat.md", "\n[[Bread#Crust]] [[Bread]]\n")

    async def typed() -> bool:
        return [spot.range.start.line for spot in await live.definition(small / "Cat.md", 1, 3)] == [4]

    await soon(typed)

    async def linked() -> bool:
        found = await live.references(small / "Bread.md", 0, 0)
        return [(spot.range.start.line, spot.range.start.character) for spot in found] == [(1, 0), (1, 16)]

    await soon(linked)
    live.close(small / "Cat.md")

    async def disk() -> bool:
        found = await live.references(small / "Bread.md", 0, 0)
        return [spot.range.start.line for spot in found] == [2]

    await soon(disk)
