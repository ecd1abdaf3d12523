"""``textDocument/definition`` and ``textDocument/references`` on the sample vault and on open documents."""

import re
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.e2e.conftest import Encoded, Home
from tests.e2e.editor import UNITS, Editor, place, relative, serving, write
from tests.support.queries import LINKS, JudgedLink

pytestmark = pytest.mark.asyncio(loop_scope="session")

RESOLVED = [link for link in LINKS if link.target is not None]
NOWHERE = [link for link in LINKS if link.target is None]
WORDS_ONLY = {"embedding": {"model": "none"}}


def text_of(root: Path, path: str) -> str:
    """Return a note as an editor would have it."""
    return (root / path).read_bytes().decode("utf-8-sig")


async def jump(editor: Editor, root: Path, path: str, written: str) -> list[lsp.Location]:
    """Open a note and ask for the definition of a link as written there."""
    text = text_of(root, path)
    editor.open(root / path, text)
    try:
        return await editor.definition(root / path, *place(text, text.index(written) + len(written) // 2))
    finally:
        editor.close(root / path)


async def users(editor: Editor, root: Path, path: str, line: int, character: int) -> list[tuple[str, str]]:
    """Open a note and return path and text of the references to what is at a position there."""
    editor.open(root / path, text_of(root, path))
    try:
        found = await editor.references(root / path, line, character)
    finally:
        editor.close(root / path)
    return [(relative(root, spot.uri), cut(text_of(root, relative(root, spot.uri)), spot.range)) for spot in found]


def cut(text: str, where: lsp.Range) -> str:
    """Return the text of a range in UTF-16 units."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)[where.start.line : where.end.line + 1]
    data = "".join(lines).encode("utf-16-le")
    before_last = len("".join(lines[:-1]).encode("utf-16-le"))
    return data[where.start.character * 2 : before_last + where.end.character * 2].decode("utf-16-le")


@pytest.mark.parametrize("link", RESOLVED, ids=lambda link: f"{link.path}: {link.written}")
async def test_a_link_leads_to_its_target(editor: Editor, life: Home, link: JudgedLink) -> None:
    """To the heading or block that it names, else to the top; first to the nearest if it could mean several."""
    assert link.target is not None
    spot, *_ = await jump(editor, life.root, link.path, link.written)
    assert relative(life.root, spot.uri) == link.target
    if link.lands_on is None:
        assert spot.range == lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    else:
        lines = re.split(r"\r\n|\n|\r", text_of(life.root, link.target))[spot.range.start.line :]
        assert "\n".join(lines).lstrip("-*0123456789. ").startswith(link.lands_on.replace("\r\n", "\n"))


@pytest.mark.parametrize("link", NOWHERE, ids=lambda link: f"{link.path}: {link.written}")
async def test_a_link_that_leads_nowhere_has_no_definition(editor: Editor, life: Home, link: JudgedLink) -> None:
    """And no error."""
    assert await jump(editor, life.root, link.path, link.written) == []


@pytest.mark.parametrize("link", RESOLVED, ids=lambda link: f"{link.path}: {link.written}")
async def test_a_link_is_one_of_the_references_to_its_target(editor: Editor, life: Home, link: JudgedLink) -> None:
    """With its own range, wherever it is asked for."""
    text = text_of(life.root, link.path)
    found = await users(editor, life.root, link.path, *place(text, text.index(link.written) + len(link.written) // 2))
    assert (link.path, link.written) in found


async def test_a_note_linked_five_times_has_five_references(tmp_path: Path) -> None:
    """Each with its own range, whether asked for in the note, on its heading or on a link."""
    links = "[[T#T]] [[T#T]]\n[x](T.md#t)\n\n| [[T#T\\|y]] |\n|---|\n\n[two\nwords](T.md#t)\n"
    root = write(tmp_path / "vault", {"T.md": "# T\n\nwords\n", "S.md": links, "U.md": "[[S]]\n"})
    expected = [
        ("S.md", written) for written in ("[[T#T]]", "[[T#T]]", "[x](T.md#t)", "[[T#T\\|y]]", "[two\nwords](T.md#t)")
    ]
    async with serving([root], tmp_path / "cache", options=WORDS_ONLY) as one:
        await one.settled()
        assert await users(one, root, "T.md", 2, 1) == expected
        assert await users(one, root, "T.md", 0, 2) == expected
        assert await users(one, root, "S.md", 3, 5) == expected
        assert await users(one, root, "S.md", 7, 2) == expected


async def test_a_place_is_told_in_the_units_of_the_client(encoded: Encoded) -> None:
    """The link is found at its column, and its range comes back in the same units."""
    path = encoded.root / "A.md"
    line = text_of(encoded.root, "A.md")
    start = UNITS[encoded.encoding](line[: line.index("[[")])
    encoded.editor.open(path, line)
    assert await encoded.editor.definition(path, 0, start - 1) == []
    (target,) = await encoded.editor.definition(path, 0, start + 2)
    (link,) = await encoded.editor.references(path, 0, start + 2)
    encoded.editor.close(path)
    assert relative(encoded.root, target.uri) == "B.md"
    assert link == lsp.Location(path.as_uri(), lsp.Range(lsp.Position(0, start), lsp.Position(0, start + 5)))


async def test_an_attachment_and_all_that_is_meant(tmp_path: Path) -> None:
    """The file itself; every note that an ambiguous link could mean."""
    notes = {"a/same.md": "", "b/same.md": "", "N.md": "![[plan.pdf]]\n[[same]]\n", "img/plan.pdf": "%PDF"}
    root = write(tmp_path / "vault", notes)
    async with serving([root], tmp_path / "cache", options=WORDS_ONLY) as one:
        await one.settled()
        file = await jump(one, root, "N.md", "![[plan.pdf]]")
        both = await jump(one, root, "N.md", "[[same]]")
        assert [relative(root, spot.uri) for spot in file] == ["img/plan.pdf"]
        assert [relative(root, spot.uri) for spot in both] == ["a/same.md", "b/same.md"]
        assert await users(one, root, "N.md", 0, 4) == [("N.md", "![[plan.pdf]]")]


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "git:/vault/Home.md?ref=HEAD"])
async def test_documents_of_other_kinds_have_neither(editor: Editor, uri: str) -> None:
    """Nor have files that are not open."""
    document, top = lsp.TextDocumentIdentifier(uri), lsp.Position(0, 3)
    assert not await editor.text_document_definition_async(lsp.DefinitionParams(document, top))
    context = lsp.ReferenceContext(include_declaration=False)
    assert not await editor.text_document_references_async(lsp.ReferenceParams(context, document, top))
