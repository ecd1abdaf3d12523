"""The index follows the disk: what is done outside the editor, with a real watcher and the real model."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types as lsp

from tests.e2e.editor import TIMEOUT, Editor, fingerprint, paths, relative, run_beside, serving, write

pytestmark = pytest.mark.asyncio(loop_scope="session")

NO_MODEL = {"embedding": {"model": "none"}}
TENT = "# Shelter\n\nThe canvas tent leaks at the seams when it pours.\n"


@pytest_asyncio.fixture(loop_scope="session")
async def live(small: Path, cache: Path) -> AsyncIterator[Editor]:
    """An editor on a small vault of its own, its index current."""
    async with serving([small], cache) as editor:
        await editor.settled()
        yield editor


@pytest_asyncio.fixture(loop_scope="session")
async def words(small: Path, cache: Path) -> AsyncIterator[Editor]:
    """As ``live``, without the model, where words are enough."""
    async with serving([small], cache, options=NO_MODEL) as editor:
        await editor.settled()
        yield editor


async def found(editor: Editor, root: Path, query: str, mode: str) -> list[str]:
    """Return the paths of all hits."""
    return paths(root, await editor.search(query, mode=mode, limit=100))


async def first(editor: Editor, root: Path, query: str, mode: str) -> str | None:
    """Return the path of the best hit."""
    return next(iter(await found(editor, root, query, mode)), None)


async def leads(editor: Editor, root: Path, query: str, path: str) -> bool:
    """Return whether a note is the best hit by meaning, with nothing left to do."""
    vault = await editor.vault()
    return vault["pending"] == 0 and await first(editor, root, query, "semantic") == path


async def test_a_new_note_is_found_by_words_and_by_meaning(live: Editor, small: Path) -> None:
    """Created outside the editor."""
    write(small, {"Tent.md": TENT})
    await live.eventually(lambda: leads(live, small, "camping gear is not waterproof", "Tent.md"))
    assert await first(live, small, "canvas seams", "lexical") == "Tent.md"


async def test_an_edited_note_is_found_by_what_it_says_now(live: Editor, small: Path) -> None:
    """And no longer by what it said."""
    write(small, {"Cat.md": "# Pet\n\nThe canvas tent leaks at the seams when it pours.\n"})
    await live.eventually(lambda: leads(live, small, "camping gear is not waterproof", "Cat.md"))
    assert await found(live, small, "radiator", "lexical") == []
    assert await first(live, small, "canvas seams", "lexical") == "Cat.md"


async def test_a_renamed_note_is_found_at_its_new_place(live: Editor, small: Path) -> None:
    """Without embedding it again; links and search know the new name."""
    before = await live.vault()
    (small / "Bread.md").rename(small / "Loaf.md")
    await live.settled(before["generation"])
    await live.eventually(lambda: leads(live, small, "baking something in the oven", "Loaf.md"))
    assert await found(live, small, "dough crust", "lexical") == ["Loaf.md"]
    after = await live.vault()
    assert after["notes"] == before["notes"]
    assert after["counters"]["chunksEmbedded"] == before["counters"]["chunksEmbedded"]


async def test_a_deleted_note_is_found_no_more(live: Editor, small: Path) -> None:
    """By words, by meaning, as a symbol."""
    (small / "Cat.md").unlink()

    async def gone() -> bool:
        return bool((await live.vault())["notes"] == 3)

    await live.eventually(gone)
    assert "Cat.md" not in await found(live, small, "radiator winter", "hybrid")
    assert "Cat.md" not in await found(live, small, "an animal asleep in the warmth", "semantic")
    assert "Cat.md" not in [relative(small, symbol.location.uri) for symbol in await live.symbols("Cat")]


async def test_a_moved_folder_embeds_nothing(live: Editor, small: Path) -> None:
    """Moved by another program; its notes are found at their new place only."""
    before = await live.vault()
    (small / "Trips").rename(small / "Journeys")

    async def moved() -> bool:
        return await found(live, small, "crampons", "lexical") == ["Journeys/Alps.md"]

    await live.eventually(moved)
    await live.eventually(lambda: leads(live, small, "mountaineering", "Journeys/Alps.md"))
    after = await live.vault()
    assert after["counters"]["chunksEmbedded"] == before["counters"]["chunksEmbedded"]
    assert after["notes"] == before["notes"]


async def test_folders_made_with_their_notes_at_once_are_seen(words: Editor, small: Path) -> None:
    """Several levels, each with a note that is there before anyone can watch its folder."""
    for number in range(5):
        write(small, {f"new{number}/deep/er/Note.md": f"Marker{number} here.\n", f"new{number}/Top.md": "Top here.\n"})

    async def all_seen() -> bool:
        return bool((await words.vault())["notes"] == 4 + 10)

    await words.eventually(all_seen)
    for number in range(5):
        assert await found(words, small, f"Marker{number}", "lexical") == [f"new{number}/deep/er/Note.md"]
    write(small, {"new3/deep/er/Later.md": "Latecomer here.\n"})

    async def later_seen() -> bool:
        return await found(words, small, "Latecomer", "lexical") == ["new3/deep/er/Later.md"]

    await words.eventually(later_seen)


async def test_a_changed_paragraph_embeds_at_most_two_chunks(tmp_path: Path) -> None:
    """Also in a long section without headings, at its top, in its middle and as an insertion."""
    parts = [
        f"Entry {number}: on day {number} we carried {number * 7} crates of apples from orchard {number % 9} to the "
        f"press, lost {number % 5} of them on the way, and wrote down in the brown book who had been singing. "
        f"The weather was noted as kind {number % 13}, the mood as kind {number % 11}, and the cider as promising."
        for number in range(40)
    ]
    root, cache = tmp_path / "vault", tmp_path / "cache"
    write(root, {"Long.md": "# Cider\n\n" + "\n\n".join(parts)})
    async with serving([root], cache) as editor:
        vault = await editor.settled()
        assert vault["chunks"] >= 15
        for text in (
            ["A first paragraph about pears that nobody ordered.", *parts],
            [*parts[:20], parts[20] + " Then a heron came.", *parts[21:]],
        ):
            before = await editor.vault()
            write(root, {"Long.md": "# Cider\n\n" + "\n\n".join(text)})
            after = await editor.settled(before["generation"])
            assert 1 <= after["counters"]["chunksEmbedded"] - before["counters"]["chunksEmbedded"] <= 2
            parts = text


async def test_a_restart_reads_and_embeds_nothing_and_finds_what_changed_meanwhile(small: Path, cache: Path) -> None:
    """Unchanged files are told by size and time; what changed between the runs is found, and no byte is written."""
    before = fingerprint(small)
    async with serving([small], cache) as editor:
        await editor.settled()
    async with serving([small], cache) as editor:
        vault = await editor.settled()
        assert (vault["counters"]["filesRead"], vault["counters"]["chunksEmbedded"]) == (0, 0)
        assert await first(editor, small, "the automobile would not start", "semantic") == "Car.md"
    assert fingerprint(small) == before
    write(small, {"Tent.md": TENT})
    (small / "Cat.md").unlink()
    async with serving([small], cache) as editor:
        vault = await editor.settled()
        assert (vault["notes"], vault["counters"]["filesRead"]) == (4, 1)
        assert await first(editor, small, "camping gear is not waterproof", "semantic") == "Tent.md"


async def test_a_burst_of_files_is_followed_in_full(small: Path, cache: Path) -> None:
    """As a checkout of another branch makes it: 500 come, half of them change, all go."""
    async with serving([small], cache, options=NO_MODEL) as editor:
        await editor.settled()

        async def counted(notes: int, word: str, hits: int) -> bool:
            vault = await editor.vault()
            answer = await editor.search(word, mode="lexical", limit=100)
            return vault["notes"] == notes and vault["pending"] == 0 and len(answer["hits"]) == hits

        write(small, {f"burst{n % 10}/Note {n}.md": f"# Note {n}\n\nUnique{n} words.\n" for n in range(500)})
        await editor.eventually(lambda: counted(504, "Unique499", 1))
        write(small, {f"burst{n % 10}/Note {n}.md": f"# Note {n}\n\nSwitched words.\n" for n in range(0, 500, 10)})
        await editor.eventually(lambda: counted(504, "Switched", 50))
        for number in range(10):
            shutil.rmtree(small / f"burst{number}")
        await editor.eventually(lambda: counted(4, "Switched", 0))


async def test_an_ignore_file_takes_effect_when_it_is_written(live: Editor, small: Path) -> None:
    """What it names leaves the index, and comes back when it goes."""
    write(small, {".gitignore": "Trips/\n"})

    async def count(notes: int) -> bool:
        return bool((await live.vault())["notes"] == notes)

    await live.eventually(lambda: count(3))
    assert await found(live, small, "crampons", "lexical") == []
    (small / ".gitignore").unlink()
    await live.eventually(lambda: count(4))
    assert (await live.vault())["counters"]["chunksEmbedded"] == 4


async def test_a_file_changed_under_an_open_note_counts_once_it_is_closed(words: Editor, small: Path) -> None:
    """What is on the screen stays what it is; closed without saving, the disk's new text is what there is."""
    words.open(small / "Cat.md", "# Cat\n\nUnsavedword in the buffer.\n")
    before = await words.vault()
    write(small, {"Cat.md": "# Cat\n\nDiskword from outside.\n"})
    await words.settled(before["generation"])
    assert await found(words, small, "Diskword", "lexical") == []
    assert await found(words, small, "Unsavedword", "lexical") == ["Cat.md"]
    words.close(small / "Cat.md")
    async with asyncio.timeout(TIMEOUT):
        while await found(words, small, "Diskword", "lexical") != ["Cat.md"]:  # noqa: ASYNC110 - nobody tells of closing
            await asyncio.sleep(0.02)
    assert await found(words, small, "Unsavedword", "lexical") == []


async def test_what_the_client_tells_is_looked_at(words: Editor, small: Path) -> None:
    """Saved, changed and renamed files, strange ones included, do no harm and are followed."""
    stranger = [lsp.FileEvent(uri, lsp.FileChangeType.Changed) for uri in ("untitled:x", "file:///nowhere/x.md")]
    words.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams(stranger))
    words.text_document_did_save(lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier("git:/x.md")))
    write(small, {"Tent.md": TENT})
    words.text_document_did_save(
        lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier((small / "Tent.md").as_uri()))
    )

    async def seen(path: str) -> bool:
        return await found(words, small, "canvas", "lexical") == [path]

    await words.eventually(lambda: seen("Tent.md"))
    (small / "Tent.md").rename(small / "Ténte 🏕.md")
    renamed = lsp.FileRename((small / "Tent.md").as_uri(), (small / "Ténte 🏕.md").as_uri())
    words.workspace_did_rename_files(lsp.RenameFilesParams([renamed]))
    await words.eventually(lambda: seen("Ténte 🏕.md"))


async def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    """Neither in circles, nor out of the vault, nor to the same note twice."""
    outside = write(tmp_path / "outside", {"Secret.md": "Outsideword here.\n"})
    root = write(tmp_path / "vault", {"a/A.md": "Insideword here.\n", "b/B.md": "Other.\n"})
    for name, target in (
        ("a/x", root / "b"),
        ("b/y", root / "a"),
        ("out", outside),
        ("Linked.md", root / "a" / "A.md"),
    ):
        (root / name).symlink_to(target)
    async with serving([root], tmp_path / "cache", options=NO_MODEL) as editor:
        assert (await editor.settled())["notes"] == 2
        assert await found(editor, root, "Insideword", "lexical") == ["a/A.md"]
        assert await found(editor, root, "Outsideword", "lexical") == []


async def test_two_folders_are_searched_together_and_come_and_go(tmp_path: Path) -> None:
    """Each has its index; a folder that joins is indexed, one that leaves is found no more."""
    one = write(tmp_path / "one", {"Note.md": "Sharedword one.\n"})
    two = write(tmp_path / "two", {"Note.md": "Sharedword two.\n"})
    three = write(tmp_path / "three", {"Note.md": "Sharedword three.\n"})

    def event(added: list[Path], removed: list[Path]) -> lsp.DidChangeWorkspaceFoldersParams:
        folders = [[lsp.WorkspaceFolder(path.as_uri(), path.name) for path in part] for part in (added, removed)]
        return lsp.DidChangeWorkspaceFoldersParams(
            lsp.WorkspaceFoldersChangeEvent(added=folders[0], removed=folders[1])
        )

    async with serving([one, two], tmp_path / "cache", options=NO_MODEL) as editor:

        async def hold(*roots: Path) -> bool:
            vaults = (await editor.status())["vaults"]
            if not all(vault["state"] == "ready" and vault["notes"] for vault in vaults):
                return False
            hits = (await editor.search("Sharedword", mode="lexical"))["hits"]
            return sorted(hit["uri"] for hit in hits) == sorted((root / "Note.md").as_uri() for root in roots)

        await editor.eventually(lambda: hold(one, two))
        editor.workspace_did_change_workspace_folders(event([three], []))
        await editor.eventually(lambda: hold(one, two, three))
        editor.workspace_did_change_workspace_folders(event([], [one]))
        await editor.eventually(lambda: hold(two, three))
        assert [vault["root"] for vault in (await editor.status())["vaults"]] == [two.as_uri(), three.as_uri()]
        write(two, {"More.md": "Sharedword more.\n"})

        async def followed() -> bool:
            return len((await editor.search("Sharedword", mode="lexical"))["hits"]) == 3

        await editor.eventually(followed)


async def test_a_second_server_reads_along_and_takes_over(small: Path, cache: Path) -> None:
    """One process writes an index; the next one answers from it and goes on when the first ends."""
    async with serving([small], cache, options=NO_MODEL) as second:
        async with serving([small], cache, options=NO_MODEL) as first_:
            await first_.until(lambda vault: vault["state"] in ("ready", "readOnly"))
            writer, reader = (second, first_) if (await first_.vault())["state"] == "readOnly" else (first_, second)
            await writer.settled()
            assert await first(reader, small, "radiator", "lexical") == "Cat.md"
            write(small, {"Tent.md": TENT})

            async def seen() -> bool:
                return await first(writer, small, "canvas", "lexical") == "Tent.md"

            await writer.eventually(seen)
            assert await first(reader, small, "canvas", "lexical") == "Tent.md"
        await second.settled()
        assert await first(second, small, "canvas", "lexical") == "Tent.md"


async def test_the_command_line_reads_along_with_a_server(live: Editor, small: Path, cache: Path) -> None:
    """It answers, and says so on standard error."""
    assert (await live.vault())["state"] == "ready"
    for command, *query in (["search", "radiator", "--mode", "lexical"], ["index"]):
        ran = await run_beside(cache, command, small, *query, "--json")
        assert (ran.code, ran.out[:1]) == (0, "{")
        assert "reading along" in ran.err
    assert (await run_beside(cache, "status", small, "--json")).json["notes"] == 4
    ran = await run_beside(cache, "index", small, "--rebuild")
    assert ran.code == 2
    assert "another Synapse" in ran.err
    found_ = (await run_beside(cache, "search", small, "radiator", "--json")).json
    assert found_["hits"][0]["path"] == "Cat.md"


async def test_many_searches_while_the_vault_changes(words: Editor, small: Path) -> None:
    """Every one is answered, each from one state of the index."""

    async def asking() -> None:
        for _ in range(20):
            for hit in (await words.search("Pairword", mode="lexical"))["hits"]:
                assert hit["snippet"]["text"].count("Pairword") == 2

    async def changing() -> None:
        for number in range(20):
            write(small, {"Pair.md": f"Pairword {number} Pairword.\n"})
            await words.vault()

    await asyncio.gather(asking(), asking(), changing())
