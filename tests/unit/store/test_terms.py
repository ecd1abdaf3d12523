"""The full-text table."""

import pytest

from synapse_ls.store import notes, terms
from synapse_ls.store.database import Connection
from tests.support.index import note

WEIGHTS = (8.0, 8.0, 4.0, 1.0, 3.0)


@pytest.mark.parametrize(
    ("match", "texts"),
    [
        ('"fox"', ["red fox", "fox fox fox"]),
        ('"red fox"', ["red fox"]),
        ('"fo"*', ["red fox", "fox fox fox"]),
        ('"c++"', ["C++ code"]),
        ('"c"', ["C++ code"]),
        ('".net"', ["the .NET runtime"]),
        ('"狐狸"', ["Fuchs 狐狸"]),
        ('"👍"', ["well done 👍"]),
        ('"fox" AND "red"', ["red fox"]),
        ('"none"', []),
    ],
)
def test_terms_are_found(db: Connection, match: str, texts: list[str]) -> None:
    """Folded terms with the signs that belong to them."""
    passages = ("red fox", "fox fox fox", "C++ code", "the .NET runtime", "Fuchs 狐狸", "well done 👍")
    notes.put(db, note("a.md", *passages, title="T"))
    text_of = dict(db.execute("SELECT id, text FROM chunks"))
    found = [text_of[chunk] for chunk, _, _ in terms.search(db, match, WEIGHTS, 99)]
    assert sorted(found) == sorted(texts)
    assert terms.count(db, match) == len(texts)
    assert sorted(text_of[chunk] for chunk in terms.holding(db, match, list(text_of))) == sorted(texts)


def test_equal_scores_stand_by_path_and_place(db: Connection) -> None:
    """Never by row numbers."""
    for path in ("b.md", "c.md", "a.md"):
        notes.put(db, note(path, "fox", "fox", title="T"))
    path_of = dict(db.execute("SELECT id, path FROM notes"))
    found = [path_of[number] for _, number, _ in terms.search(db, '"fox"', WEIGHTS, 99)]
    assert found == ["a.md", "a.md", "b.md", "b.md", "c.md", "c.md"]


def test_only_the_given_notes_are_looked_at(db: Connection) -> None:
    """And no more than asked for."""
    ids = {path: notes.put(db, note(path, "fox")).note for path in ("a.md", "b.md", "c.md")}
    assert [n for _, n, _ in terms.search(db, '"fox"', WEIGHTS, 9, [ids["c.md"], ids["b.md"]])] == [
        ids["b.md"],
        ids["c.md"],
    ]
    assert terms.search(db, '"fox"', WEIGHTS, 9, []) == []
    assert len(terms.search(db, '"fox"', WEIGHTS, 2)) == 2
    assert terms.notes_holding(db, '"fox"') == set(ids.values())


def test_long_names_stand_whole_in_the_first_passage_only(db: Connection) -> None:
    """All are found, and a passage further down is found by the first of them."""
    words = [f"name{i}" for i in range(500)]
    notes.put(db, note("a.md", "one", "two", title="T", aliases=words, tags=words))
    assert (terms.count(db, '"name0"'), terms.count(db, '"name499"')) == (2, 1)


def test_titles_weigh_more(db: Connection) -> None:
    """Higher is better."""
    notes.put(db, note("a.md", "one fox here", title="Other"))
    titled = notes.put(db, note("b.md", "nothing to see", title="Fox")).note
    found = terms.search(db, '"fox"', WEIGHTS, 9)
    assert found[0][1] == titled
    assert found[0][2] > found[1][2]


def test_the_vocabulary_counts_passages(db: Connection) -> None:
    """By term, between two lengths; terms that are gone do not count."""
    notes.put(db, note("a.md", "fox foxes", "fox fir", title="T"))
    notes.put(db, note("b.md", "forest", title="T"))
    notes.delete(db, "b.md")
    assert terms.vocabulary(db, "f", 3, 5) == [("fir", 1), ("fox", 2), ("foxes", 1)]
    assert terms.vocabulary(db, "fo", 4, 9) == [("foxes", 1)]
