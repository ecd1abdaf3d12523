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
        ("a.md.md", "a.md"),
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
    assert names_of("a/My Note.md", "My Title", ["Short", "", "Short", " "]) == (
        NameRecord("path", "a/My Note", "my note"),
        NameRecord("alias", "Short", "short"),
        NameRecord("title", "My Title", "my title"),
    )
