"""Misspelt words."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.search.query import parse
from synapse_ls.search.spelling import corrected, distance
from tests.support.index import note, reading

NOTES = (note("a.md", "The Zettelkasten method"), note("b.md", "boiler boiled"), note("c.md", "Słówka boiler"))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("zettleksten", "zettelkasten"),
        ("boilre", "boiler"),
        ("slwoka", "slowka"),
        ("eztelkasten", "zettelkasten"),
        ("obiler", "boiler"),
        ("nboiler", "boiler"),
        ("boiler", "boiler"),
        ("qwxzvq", "qwxzvq"),
        ("bed", "bed"),
    ],
)
def test_an_unknown_word_becomes_the_nearest_known_one(tmp_path: Path, text: str, word: str) -> None:
    """Known words, short ones and those with nothing near stay; of equally near ones the commoner is taken."""
    with reading(tmp_path, NOTES) as db:
        query = corrected(db, parse(text))
    assert [w.parts for w in query.words] == [(word,)]
    assert [w.corrected for w in query.words] == [text != word]


def test_a_short_word_in_company_stays(tmp_path: Path) -> None:
    """A short word of a sentence that no note holds is another word, not a slip: safe is not same."""
    with reading(tmp_path, (note("a.md", "the same place"), note("b.md", "boiler"))) as db:
        query = corrected(db, parse("a safe plane with a boilre"))
    assert [w.parts for w in query.wanted] == [("safe",), ("plane",), ("boiler",)]


def test_the_embedder_still_reads_what_was_typed(tmp_path: Path) -> None:
    """A correction is for words only."""
    with reading(tmp_path, NOTES) as db:
        assert corrected(db, parse("boilre noise")).text == "boilre noise"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("note", "note", 0), ("note", "ntoe", 1), ("note", "not", 1), ("note", "noted", 1), ("abcd", "wxyz", 3)],
)
def test_distance(one: str, other: str, expected: int) -> None:
    """A swap is one step; beyond the limit it is the limit and one."""
    assert distance(one, other, 2) == expected


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_distance_is_symmetric(one: str, other: str) -> None:
    """What is done can be undone."""
    assert distance(one, other, 2) == distance(other, one, 2)


def test_a_pasted_page_is_not_corrected(tmp_path: Path) -> None:
    """It has other words to be found by."""
    filler = " ".join(f"qq{letter}" for letter in "abcdefghijklmnop")
    with reading(tmp_path, NOTES) as db:
        query = parse(f"zettleksten {filler}")
        assert corrected(db, query) == query
