"""Names of notes and their look-up keys."""

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.links.names import folded, key, names_of, without_ending
from synapse_ls.store.records import NameRecord


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Note", "note"),
        ("Note.md", "note"),
        ("note.MARKDOWN", "note"),
        ("folder/Note.md", "note"),
        ("/folder/Sub/Note", "note"),
        ("folder/", "folder"),
        ("  Note  ", "note"),
        ("v1.2", "v1.2"),
        ("v1.2.md", "v1.2"),
        ("a.md.md", "a"),
        ("a.markdown.md", "a"),
        (".md", ".md"),
        (".net.md", ".net"),
        ("Straße", "strasse"),
        ("Cafe\u0301", "café"),
        ("Café", "café"),
        ("🍋 Lemon curd", "🍋 lemon curd"),
        ("", ""),
        ("/", ""),
        ("..", ".."),
        ("\ud800x", "?x"),
    ],
)
def test_a_key_is_the_last_component_folded(name: str, expected: str) -> None:
    """Without a note's ending; other dots belong to the name."""
    assert key(name) == expected


@given(st.text(max_size=12))
def test_case_and_composition_do_not_change_a_key(name: str) -> None:
    """Any text has one key, which a database can hold."""
    assert key(name).encode().decode() == key(name)
    assert key(normalize("NFD", name)) == key(name)
    assert key(folded(name)) == key(name)


@pytest.mark.parametrize(("name", "stem"), [("a.md", "a"), ("a.b", "a.b"), ("a/b.markdown", "a/b"), (".md", ".md")])
def test_without_ending(name: str, stem: str) -> None:
    """Case as written."""
    assert without_ending(name) == stem


def test_names_of_a_note() -> None:
    """Path, aliases, title; no repeats and no empty names."""
    assert names_of("d/notes.markdown.md", "T", ()) == (
        NameRecord("path", "d/notes.markdown", "notes"),
        NameRecord("title", "T", "t"),
    )
    assert names_of("a/My Note.md", "My Title", ["Short", "", "Short", " "]) == (
        NameRecord("path", "a/My Note", "my note"),
        NameRecord("alias", "Short", "short"),
        NameRecord("title", "My Title", "my title"),
    )


@pytest.mark.parametrize(
    ("path", "page", "names"),
    [
        ("pages/a___b.md", None, [("page", "a/b")]),
        ("pages/a%2Fb%3F.md", None, [("page", "a/b?")]),
        ("pages/x.md", "A/B", [("page", "A/B")]),
        ("journals/2024_01_01.md", None, [("journal", "Jan 1st, 2024"), ("journal", "January 1st, 2024"),
                                          ("journal", "2024-01-01")]),
        ("journals/2024_13_01.md", None, []),
        ("2024_01_01.md", None, []),
        ("202401311200-a-title.md", None, [("id", "202401311200")]),
        ("x7a2 a title.md", None, [("id", "x7a2")]),
        ("2024-01-31.md", None, []),
    ],
)  # fmt: skip
def test_names_that_only_some_dialects_know(path: str, page: str | None, names: list[tuple[str, str]]) -> None:
    """Pages and days of Logseq, ids of zk."""
    found = names_of(path, "T", (), page)
    assert [(name.kind, name.text) for name in found if name.kind in {"page", "journal", "id"}] == names
    assert all(name.key == key(name.text) for name in found)
