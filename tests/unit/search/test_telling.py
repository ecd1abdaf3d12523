"""The words that tell what a text is about, and the names it uses."""

from pathlib import Path

import pytest

from synapse_ls.search.mentions import mentions
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.search.telling import english, telling
from synapse_ls.store import notes
from tests.support.index import note, reading

NOTES = (
    note("a.md", "The gasket of the pump leaks, the gasket is old, unheard"),
    note("b.md", "A gasket for the pump", title="Water Pump"),
    note("c.md", "The pump again", aliases=["東京都"]),
    note("d.md", "Old things"),
)


def test_repeated_and_rare_words_tell_most(tmp_path: Path) -> None:
    """Common words, and what no other note says, tell nothing."""
    with reading(tmp_path, NOTES) as db:
        row = notes.by_path(db, "a.md")
        assert row is not None
        query = telling(db, row.id, [], ["The gasket of the pump leaks, the gasket is old, unheard"])
    assert [word.spelling for word in query.words] == ["gasket", "old", "pump"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Water pump of today", ["b.md"]),
        ("a water-pump", []),
        ("water\npump", []),
        ("今日は東京都です", ["c.md"]),
        ("", []),
    ],
)
def test_names_stand_in_a_row_of_whole_words(tmp_path: Path, text: str, expected: list[str]) -> None:
    """On one line, whatever the case; within scripts that have no spaces anywhere."""
    with reading(tmp_path, NOTES) as db:
        found = mentions(Snapshot(db), [text])
        assert [row.path for row in notes.by_ids(db, sorted(found)).values()] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("The pump is old", True), ("東京都の水道", False), ("Der Kessel ist nicht sehr alt und die Pumpe auch", False)],
)
def test_english_is_told_from_other_languages(text: str, *, expected: bool) -> None:
    """By script and small words."""
    assert english(text) is expected
