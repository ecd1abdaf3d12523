"""``textDocument/hover`` on links of the sample vault and of open documents."""

import re
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from synapse_ls.markdown.parser import parse
from tests.e2e.conftest import Encoded, Home
from tests.e2e.editor import UNITS, Editor, place, serving, write
from tests.support.queries import LINKS, JudgedLink

pytestmark = pytest.mark.asyncio(loop_scope="session")

PLAIN = lsp.ClientCapabilities(
    text_document=lsp.TextDocumentClientCapabilities(
        hover=lsp.HoverClientCapabilities(content_format=[lsp.MarkupKind.PlainText])
    )
)
RESOLVED = [link for link in LINKS if link.target is not None]
NOWHERE = [link for link in LINKS if link.target is None and "://" not in link.written]


def text_of(root: Path, path: str) -> str:
    """Return a note as an editor would have it."""
    return (root / path).read_bytes().decode("utf-8-sig")


def bare(markdown: str) -> str:
    """Return Markdown without its escapes."""
    return re.sub(r"\\([\\`*_{}\[\]<>()#!|])", r"\1", markdown)


def value(hover: lsp.Hover | None) -> str:
    """Return what a hover shows."""
    assert hover is not None
    assert isinstance(hover.contents, lsp.MarkupContent)
    return hover.contents.value


async def over(editor: Editor, path: Path, text: str, written: str, encoding: str = "utf-16") -> lsp.Hover | None:
    """Open a document, hover in the middle of a link as written there, and close it again."""
    start = text.index(written)
    editor.open(path, text)
    try:
        return await editor.hover(path, *place(text, start + len(written) // 2, encoding))
    finally:
        editor.close(path)


@pytest.mark.parametrize("link", RESOLVED, ids=lambda link: f"{link.path}: {link.written}")
async def test_a_link_shows_its_target(editor: Editor, life: Home, link: JudgedLink) -> None:
    """Title, place and, where the link names a heading or block, the text it lands on."""
    assert link.target is not None
    text = text_of(life.root, link.path)
    hover = await over(editor, life.root / link.path, text, link.written)
    shown = bare(value(hover))
    title = parse(text_of(life.root, link.target), Path(link.target).stem).note.title
    assert title in shown.split("\n")[0]
    assert link.target in shown.split("\n")[0]
    if link.lands_on is not None:
        assert bare(link.lands_on) in shown.split("\n", 1)[1]
    assert hover is not None
    assert hover.range is not None
    start = place(text, text.index(link.written))
    assert (hover.range.start.line, hover.range.start.character) == start


@pytest.mark.parametrize("link", NOWHERE, ids=lambda link: f"{link.path}: {link.written}")
async def test_a_link_that_leads_nowhere_says_so(editor: Editor, life: Home, link: JudgedLink) -> None:
    """With the name that was looked for and the nearest names there are."""
    shown = bare(value(await over(editor, life.root / link.path, text_of(life.root, link.path), link.written)))
    assert shown.startswith(f"no such note: {link.written.strip('[]')}")
    assert "nearest" in shown


async def test_a_web_address_is_never_a_note(editor: Editor, life: Home) -> None:
    """Not even one that ends like a note."""
    path, written = "awkward/broken yaml.md", "[piano shop](<https://example.org/tuners near me.md>)"
    assert await over(editor, life.root / path, text_of(life.root, path), written) is None


async def test_plain_text_where_the_client_wants_it(tmp_path: Path) -> None:
    """No marks of Markdown."""
    root = write(tmp_path / "vault", {"A.md": "See [[B]].\n", "B.md": "# B one\n\nSome **bold** words and `code`.\n"})
    async with serving([root], tmp_path / "cache", capabilities=PLAIN, options={"embedding": {"model": "none"}}) as one:
        await one.settled()
        hover = await over(one, root / "A.md", "See [[B]].\n", "[[B]]")
    assert hover is not None
    assert isinstance(hover.contents, lsp.MarkupContent)
    assert hover.contents.kind == lsp.MarkupKind.PlainText
    assert hover.contents.value.startswith("B one · B.md")
    assert "Some bold words and code." in hover.contents.value


async def test_a_link_after_wide_characters_is_found_at_its_column(encoded: Encoded) -> None:
    """From its first to its last character in the client's units, and nowhere beside."""
    path = encoded.root / "A.md"
    line = text_of(encoded.root, "A.md")
    start = UNITS[encoded.encoding](line[: line.index("[[")])
    encoded.editor.open(path, line)
    assert await encoded.editor.hover(path, 0, start - 1) is None
    assert await encoded.editor.hover(path, 0, start + 7) is None
    for column in (start, start + 4):
        hover = await encoded.editor.hover(path, 0, column)
        assert hover is not None
        assert hover.range == lsp.Range(lsp.Position(0, start), lsp.Position(0, start + 5))


@pytest.mark.parametrize(("line", "character"), [(0, 10_000), (0, 2**31 - 1), (99, 0), (2**31 - 1, 2**31 - 1)])
async def test_a_position_past_the_end_is_clamped(editor: Editor, life: Home, line: int, character: int) -> None:
    """To the end of the line, or of the text, which here is the end of a link."""
    path = life.root / "Home.md"
    editor.open(path, "Go to [[Boiler]]")
    assert "House/Boiler.md" in value(await editor.hover(path, line, character))
    editor.close(path)


async def test_what_is_beyond_the_indexed_part_of_a_note_is_not_looked_at(tmp_path: Path) -> None:
    """A link there has no hover, nor has the end of the indexed part one for it."""
    text = f"[[B]]\n{'w' * 1012}\n[[B]] and [[B]]"
    assert text[1019:1024] == "[[B]]"
    root = write(tmp_path / "vault", {"A.md": text[:1024], "B.md": "# B\n"})
    options = {"embedding": {"model": "none"}, "index": {"maxFileKiB": 1}}
    async with serving([root], tmp_path / "cache", options=options) as one:
        await one.settled()
        one.open(root / "A.md", text)
        assert await one.hover(root / "A.md", 0, 2) is not None
        assert await one.hover(root / "A.md", 2, 0) is not None
        assert await one.hover(root / "A.md", 2, 12) is None
        assert await one.definition(root / "A.md", 2, 12) == []


async def test_the_text_of_the_open_document_counts_not_the_disks(editor: Editor, life: Home) -> None:
    """Opened, edited by parts and replaced as a whole."""
    path = life.root / "Home.md"
    document = lsp.VersionedTextDocumentIdentifier(2, path.as_uri())

    def change(*changes: lsp.TextDocumentContentChangeEvent) -> None:
        editor.text_document_did_change(lsp.DidChangeTextDocumentParams(document, list(changes)))

    def part(line: int, start: int, end: int, text: str) -> lsp.TextDocumentContentChangePartial:
        return lsp.TextDocumentContentChangePartial(lsp.Range(lsp.Position(line, start), lsp.Position(line, end)), text)

    editor.open(path, "🍋 [[Boiler]]\r\nno link\u2028here\r\n")
    assert "House/Boiler.md" in value(await editor.hover(path, 0, 6))
    change(part(0, 5, 11, "Bins"), part(1, 0, 2, "[[Damp]]"))
    assert "House/Bins.md" in value(await editor.hover(path, 0, 6))
    assert "House/Damp.md" in value(await editor.hover(path, 1, 3))
    change(part(0, 0, 0, "new first line\n"))
    assert "House/Damp.md" in value(await editor.hover(path, 2, 3))
    change(lsp.TextDocumentContentChangeWholeDocument("[[Wi-Fi]]"))
    assert "House/Wi-Fi.md" in value(await editor.hover(path, 0, 3))
    editor.close(path)


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "git:/vault/Home.md?ref=HEAD", "term://bash"])
async def test_documents_of_other_kinds_are_ignored(editor: Editor, uri: str) -> None:
    """Opened, changed, asked about and closed without an answer and without harm."""
    editor.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "markdown", 1, "[[Boiler]]")))
    document = lsp.TextDocumentIdentifier(uri)
    assert await editor.text_document_hover_async(lsp.HoverParams(document, lsp.Position(0, 3))) is None
    editor.text_document_did_close(lsp.DidCloseTextDocumentParams(document))


async def test_files_outside_every_folder_are_ignored(editor: Editor, tmp_path: Path) -> None:
    """A lone file has no vault to look into."""
    assert await over(editor, tmp_path / "Lone.md", "[[Boiler]]", "[[Boiler]]") is None


async def test_a_hover_is_short_and_harmless(tmp_path: Path) -> None:
    """At most twenty lines; what a note holds cannot become a command, a remote image or markup in the editor."""
    nasty = (
        "# Nasty\n\n![pixel](https://example.org/pixel.png) [run](command:workbench.action.quit) "
        '<img src="https://example.org/a.png"> [ref][r] <https://example.org>\n\n[r]: command:evil\n'
    )
    long = "# Long\n\n## List\n\n" + "".join(f"- item {number}\n" for number in range(100))
    text = "[[Nasty]] and [[Long#List]]\n"
    root = write(tmp_path / "vault", {"A.md": text, "Nasty.md": nasty, "Long.md": long})
    async with serving([root], tmp_path / "cache", options={"embedding": {"model": "none"}}) as one:
        await one.settled()
        shown = value(await over(one, root / "A.md", text, "[[Nasty]]"))
        cut = value(await over(one, root / "A.md", text, "[[Long#List]]"))
    assert "pixel" in shown
    assert "run" in shown
    for harm in ("](", "<img", "]:", "command:", "<https"):
        assert harm not in shown
    assert len(cut.split("\n")) == 20
    assert cut.endswith("…")


async def test_the_passage_that_fits_the_paragraph_is_shown(editor: Editor, life: Home) -> None:
    """The same link in another paragraph shows another part of the journal."""
    path = life.root / "Home.md"
    clock = await over(
        editor, path, "The stopped clock of the school was mended, see [[Journal 2025]].", "[[Journal 2025]]"
    )
    walk = await over(editor, path, "Old people walking at night over land, see [[Journal 2025]].", "[[Journal 2025]]")
    assert value(clock) != value(walk)


@pytest.mark.parametrize(("written", "meant"), [("[[Boilre]]", "Boiler"), ("[[Torqeu table]]", "Torque table")])
async def test_a_misspelt_link_names_the_note_it_may_mean(editor: Editor, life: Home, written: str, meant: str) -> None:
    """Before anything else that is near."""
    shown = bare(value(await over(editor, life.root / "Home.md", written, written)))
    assert shown.split("\n- ")[1].startswith(f"{meant} (")
