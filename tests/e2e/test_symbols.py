"""``workspace/symbol`` over the sample vault."""

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.e2e.conftest import Home
from tests.e2e.editor import AnySymbol, Editor, relative, serving, write
from tests.support.queries import ALIASES, NEVER_FOUND, Judged

pytestmark = pytest.mark.asyncio(loop_scope="session")

KIND = lsp.SymbolKind


def row(home: Home, symbol: AnySymbol) -> tuple[str, lsp.SymbolKind, str]:
    """Return a symbol's name, kind and path."""
    return symbol.name, symbol.kind, relative(home.root, symbol.location.uri)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Torque table", ("Torque table", KIND.File, "Work/Torque table.md")),
        ("torque table", ("Torque table", KIND.File, "Work/Torque table.md")),
        ("torq", ("Torque table", KIND.File, "Work/Torque table.md")),
        ("table", ("Torque table", KIND.File, "Work/Torque table.md")),
        ("trqtbl", ("Torque table", KIND.File, "Work/Torque table.md")),
        ("lodz", ("Łódź 2026", KIND.File, "Travel/Łódź 2026.md")),
        ("味噌", ("味噌汁", KIND.File, "Recipes/味噌汁.md")),
        ("🍋", ("🍋 Lemon curd", KIND.File, "Recipes/🍋 Lemon curd.md")),
        ("springs decision", ("springs decision", KIND.Constant, "Work/adr-007.md")),
        ("pawl prob", ("pawl problem", KIND.Constant, "Work/POL-358 Freehub pawls.md")),
        ("Exit codes of stockd", ("Exit codes of stockd", KIND.String, "Work/Error codes.md")),
        ("what we know", ("What we know", KIND.String, "Work/POL-358 Freehub pawls.md")),
        ("#moc", ("#moc", KIND.Key, "Home.md")),
    ],
)
async def test_a_name_is_found_first(
    editor: Editor, life: Home, query: str, first: tuple[str, lsp.SymbolKind, str]
) -> None:
    """Whole, its beginning, a word of it, its letters; of notes, aliases, headings and tags."""
    assert row(life, (await editor.symbols(query))[0]) == first


@pytest.mark.parametrize("alias", ALIASES, ids=lambda alias: alias.query)
async def test_an_alias_is_a_constant_that_points_at_its_note(editor: Editor, life: Home, alias: Judged) -> None:
    """Every alias, in whatever script."""
    rows = [row(life, symbol) for symbol in await editor.symbols(alias.query)]
    assert (alias.query, KIND.Constant, alias.path) in rows[:3]


async def test_the_container_is_the_path_and_the_headings_above(editor: Editor) -> None:
    """Notes, aliases and tags lie in their note; a heading also below its headings."""
    found = {symbol.kind: symbol for symbol in reversed(await editor.symbols("Jobs for March"))}
    assert found[KIND.String].container_name == "Garden/Allotment.md"
    nested = next(symbol for symbol in await editor.symbols("X^") if symbol.name == "X^")
    assert nested.container_name == "Work/Torque table.md > Torque table"
    note = (await editor.symbols("Torque table"))[0]
    assert note.container_name == "Work/Torque table.md"


async def test_a_heading_points_at_its_line(editor: Editor, life: Home) -> None:
    """So that choosing it jumps there."""
    symbol = (await editor.symbols("Exit codes of stockd"))[0]
    assert isinstance(symbol.location, lsp.Location)
    lines = (life.root / "Work/Error codes.md").read_text("utf-8").split("\n")
    assert lines[symbol.location.range.start.line] == "# Exit codes of stockd"


async def test_an_exact_name_precedes_longer_ones(editor: Editor) -> None:
    """Exact before prefix before word before fuzzy."""
    names = [symbol.name for symbol in await editor.symbols("Decision") if symbol.kind == KIND.String]
    assert names[0] == "Decision"
    names = [symbol.name for symbol in await editor.symbols("know")]
    assert "What we know" in names


async def test_names_come_before_what_a_search_finds(editor: Editor, life: Home) -> None:
    """A query of one word: names first, then notes that hold it."""
    rows = [row(life, symbol) for symbol in await editor.symbols("slugs")]
    assert rows[0] == ("Slugs", KIND.File, "Garden/Slugs.md")
    assert len({path for _, kind, path in rows if kind == KIND.File}) > 3


async def test_a_question_finds_notes_by_meaning(editor: Editor, life: Home) -> None:
    """No name matches; the search's notes are there, each once."""
    rows = [row(life, symbol) for symbol in await editor.symbols("saving for retirement")]
    assert "Money/Pension.md" in [path for _, _, path in rows][:5]
    assert len(rows) == len(set(rows))


async def test_an_empty_query_gives_the_notes_changed_last(editor: Editor, life: Home) -> None:
    """Never an error, never all of a large vault."""
    rows = [row(life, symbol) for symbol in await editor.symbols("")]
    assert 0 < len(rows) <= 50
    assert {kind for _, kind, _ in rows} == {KIND.File}
    times = [(life.root / path).stat().st_mtime_ns for _, _, path in rows]
    assert times == sorted(times, reverse=True)


async def test_at_most_two_hundred(tmp_path: Path) -> None:
    """However many names match."""
    headings = "".join(f"## Item {number}\n\n" for number in range(300))
    root = write(tmp_path / "vault", {"Many.md": f"# Many\n\n{headings}", "Item.md": "# Item\n"})
    async with serving([root], tmp_path / "cache", options={"embedding": {"model": "none"}}) as one:
        await one.settled()
        found = await one.symbols("item")
        assert len(found) == 200
        assert (found[0].name, found[0].kind) == ("Item", KIND.File)


@pytest.mark.parametrize("query", [*NEVER_FOUND, "letter", "scratch"])
async def test_ignored_notes_have_no_symbols(editor: Editor, life: Home, query: str) -> None:
    """Neither their names nor what a search would find."""
    rows = [row(life, symbol) for symbol in await editor.symbols(query)]
    assert [path for _, _, path in rows if path.startswith(("private", ".obsidian"))] == []


@pytest.mark.parametrize("query", ["*", "?", "[", "]", "%", "_", "'", '"', "(", "\\", "[a-z]", "#", "\x00", "ż" * 300])
async def test_no_input_is_an_error(editor: Editor, query: str) -> None:
    """Signs of pattern languages are text."""
    assert len(await editor.symbols(query)) <= 200
