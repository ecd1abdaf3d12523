"""Workspace folders that overlap, are missing, come and go, and notes without any."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.e2e.conftest import SMALL
from tests.e2e.editor import Editor, paths, relative, serving, write

pytestmark = pytest.mark.asyncio(loop_scope="session")

NO_MODEL = {"embedding": {"model": "none"}}
NOTE_AND_HEADING = [("Alps", lsp.SymbolKind.File), ("Alps", lsp.SymbolKind.String)]


def change(editor: Editor, added: list[str], removed: list[str]) -> None:
    """Add folders to the workspace and remove others, by URI."""
    event = lsp.WorkspaceFoldersChangeEvent(
        [lsp.WorkspaceFolder(uri, "added") for uri in added], [lsp.WorkspaceFolder(uri, "removed") for uri in removed]
    )
    editor.workspace_did_change_workspace_folders(lsp.DidChangeWorkspaceFoldersParams(event))


async def until_all(editor: Editor, met: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """Wait until the statuses of all vaults meet a condition; returns them."""
    reached: list[dict[str, Any]] = []

    async def look() -> bool:
        reached[:] = (await editor.status())["vaults"]
        return met(reached)

    await editor.eventually(look)
    return reached


async def names(editor: Editor, query: str) -> list[tuple[str, lsp.SymbolKind]]:
    """Return the names and kinds of the symbols for a query."""
    return [(symbol.name, symbol.kind) for symbol in await editor.symbols(query)]


async def found(editor: Editor, root: Path, query: str) -> list[str]:
    """Return the paths of the hits for a query."""
    return paths(root, await editor.search(query))


def ready(count: int, notes: int) -> Callable[[list[dict[str, Any]]], bool]:
    """Return the condition that so many vaults are ready, the first with so many notes."""
    return lambda vaults: [vault["state"] for vault in vaults] == ["ready"] * count and vaults[0]["notes"] == notes


async def test_the_vaults_that_work_answer(small: Path, cache: Path) -> None:
    """One folder is missing and one is a file, before and after the good one."""
    (small.parent / "file").touch()
    async with serving(
        [small.parent / "missing", small, small.parent / "file"], cache, options=NO_MODEL
    ) as editor:  # fmt: skip
        await until_all(editor, lambda all_: [one["state"] for one in all_] == ["failed", "ready", "failed"])
        assert relative(small, (await editor.search("radiator"))["hits"][0]["uri"]) == "Cat.md"
        assert await names(editor, "alps") == NOTE_AND_HEADING


async def test_where_no_vault_works_the_error_is_the_answer(tmp_path: Path, cache: Path) -> None:
    """One sentence that names the folder."""
    async with serving([tmp_path / "missing"], cache, options=NO_MODEL) as editor:
        for question in (editor.search("x"), editor.symbols("x")):
            with pytest.raises(JsonRpcException, match="missing") as raised:
                await question
            assert raised.value.code == lsp.LSPErrorCodes.RequestFailed


async def test_a_folder_that_comes_late_is_served(tmp_path: Path, cache: Path) -> None:
    """A drive that is mounted after the start; its absence is told once."""
    late = tmp_path / "late"
    async with serving([late], cache, options=NO_MODEL) as editor:
        await until_all(editor, lambda all_: all_[0]["state"] == "failed")
        write(tmp_path / "made", SMALL).rename(late)
        await until_all(editor, ready(1, 4))
        assert relative(late, (await editor.search("radiator"))["hits"][0]["uri"]) == "Cat.md"
        assert "lastError" not in await editor.vault()
        assert len(editor.messages) == 1


async def test_several_names_of_one_folder_are_one_vault(small: Path, cache: Path) -> None:
    """A slash at the end, a letter written as a number and a link; nobody else is said to write the index."""
    link = small.parent / "link"
    link.symlink_to(small)
    async with serving([small], cache, options=NO_MODEL) as editor:
        await until_all(editor, ready(1, 4))
        uri = small.as_uri()
        change(editor, [f"{uri}/", uri.removesuffix("vault") + "%76ault", link.as_uri()], [])
        await until_all(editor, ready(4, 4))
        assert await found(editor, small, "radiator") == ["Cat.md", "Bread.md"]
        assert await names(editor, "alps") == NOTE_AND_HEADING
        assert editor.messages == []
        change(editor, [], [uri, f"{uri}/"])
        await until_all(editor, ready(2, 4))
        assert len((await editor.search("radiator"))["hits"]) == 2


async def test_each_note_of_folders_within_each_other_is_found_once(small: Path, cache: Path) -> None:
    """By search and by name; both folders are open."""
    async with serving([small, small / "Trips"], cache, options=NO_MODEL) as editor:
        await until_all(editor, ready(2, 4))
        assert await found(editor, small, "crampons") == ["Trips/Alps.md"]
        assert await names(editor, "alps") == NOTE_AND_HEADING
        assert relative(small, (await editor.search("radiator"))["hits"][0]["uri"]) == "Cat.md"
        assert editor.messages == []


async def test_the_names_of_one_vault_do_not_hide_those_of_another(tmp_path: Path, cache: Path) -> None:
    """An exact name in the second comes before the second match in the first."""
    many = write(tmp_path / "many", {f"{number}.md": f"# Pine tree {number}\n" for number in range(250)})
    one = write(tmp_path / "one", {"Pine.md": "# Pine\n"})
    async with serving([many, one], cache, options=NO_MODEL) as editor:
        await until_all(editor, lambda all_: [vault["notes"] for vault in all_] == [250, 1])
        listed = await names(editor, "pine")
        assert len(listed) == 200
        assert "Pine" in [name for name, _ in listed[:2]]


async def test_a_lone_note_is_served_from_its_own_folder_while_it_is_open(small: Path, cache: Path) -> None:
    """A workspace of no folder; the links of the note lead to its neighbours."""
    note, other = small / "Cat.md", small / "Bread.md"
    async with serving([], cache, options=NO_MODEL) as editor:
        editor.open(note, SMALL["Cat.md"])
        editor.open(other, SMALL["Bread.md"])
        await until_all(editor, lambda all_: len(all_) == 1 and ready(1, 4)(all_))
        assert (await editor.vault())["root"] == small.as_uri()
        shown = await editor.hover(note, 2, SMALL["Cat.md"].splitlines()[2].index("Bread"))
        assert shown is not None
        editor.close(note)
        assert len((await editor.status())["vaults"]) == 1
        editor.close(other)
        assert (await editor.status())["vaults"] == []


async def test_a_lone_note_in_a_wide_folder_is_not_served(tmp_path: Path, cache: Path) -> None:
    """The user's home and what is above it; told once."""
    home = write(tmp_path / "home", {"A.md": "# A\n", "B.md": "# B\n"})
    async with serving([], cache, options=NO_MODEL, environment={"HOME": str(home)}) as editor:
        editor.open(home / "A.md", "# A\n")
        editor.open(home / "B.md", "# B\n")
        editor.open(tmp_path / "C.md", "# C\n")
        editor.open(tmp_path / "script.py", "print()\n")
        assert (await editor.status())["vaults"] == []
        (message,) = [message.message for message in editor.messages]
        assert "open the folder" in message


async def test_a_search_leaves_out_a_folder_that_is_removed_meanwhile(small: Path, cache: Path) -> None:
    """Folders come and go while questions are asked: each gets an answer from the one that stays."""
    other = write(small.parent / "other", {"Radio.md": "# Radio\n\nThe radiator hums.\n"})
    async with serving([small], cache, options=NO_MODEL) as editor:
        await editor.settled()
        for _ in range(5):
            change(editor, [other.as_uri()], [])
            asked = [editor.protocol.send_request_async("synapse/search", {"query": "radiator"}) for _ in range(4)]  # type: ignore[no-untyped-call]  # the library's
            change(editor, [], [other.as_uri()])
            for question in asked:
                assert any(
                    relative(small, hit["uri"]) == "Cat.md"
                    for hit in (await question)["hits"]
                    if "/vault/" in hit["uri"]
                )
