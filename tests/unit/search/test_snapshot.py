"""The index with open buffers in place of their files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.core.model import SearchAnswer, SearchFilter, SearchRequest
from synapse_ls.search.lexical import FIELD_WEIGHTS
from synapse_ls.search.query import any_phrases, any_words, parse
from synapse_ls.search.searcher import Semantic, search
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import database, terms
from synapse_ls.store.database import Connection
from synapse_ls.store.records import NoteRecord
from tests.support.index import embed, fill, note, reading, vector

BOILER = note("boiler.md", "The boiler hums.", "Bleed the radiator first.", tags=["house"])
BREAD = note("bread.md", "Knead the dough.", links=["boiler"], tags=["kitchen"])
STONE = note("deep/stone.md", "A stone wall.", aliases=["rock"])
STORED = (BOILER, BREAD, STONE)
MEANINGS = {"hums": vector(1, 0), "radiator": vector(1, 1), "dough": vector(0, 1), "wall": vector(0, 0, 1)}
WARM = Semantic(lambda _: vector(1, 0), "ok")


@contextmanager
def typed(folder: Path, buffers: Sequence[NoteRecord]) -> Iterator[tuple[Connection, Connection]]:
    """Give an index of the stored notes and one of the buffers, both with vectors."""
    over = database.memory()
    fill(over, buffers)
    embed(over, MEANINGS)
    with reading(folder, STORED, MEANINGS) as db:
        yield db, over
    over.close()


def found(answer: SearchAnswer) -> list[str]:
    """Return the paths of an answer's hits."""
    return [hit.path for hit in answer.hits]


def asked(folder: Path, buffers: Sequence[NoteRecord], request: SearchRequest, semantic: Semantic) -> SearchAnswer:
    """Search the stored notes with buffers over them."""
    with typed(folder, buffers) as (db, over):
        return search(db, request, semantic, buffers=over)


def test_a_buffer_speaks_in_place_of_its_file(tmp_path: Path) -> None:
    """What it does not say any more is not found, what it says now is, with its own passage."""
    buffers = [note("boiler.md", "Silence.", "A kettle whistles.", title="Kettle")]
    old = asked(tmp_path / "a", buffers, SearchRequest("hums", mode="lexical"), Semantic())
    new = asked(tmp_path / "b", buffers, SearchRequest("whistles", mode="lexical"), Semantic())
    assert found(old) == []
    assert [(hit.path, hit.title, hit.snippet.text) for hit in new.hits] == [
        ("boiler.md", "Kettle", "A kettle whistles.")
    ]


def test_meaning_speaks_of_buffers_too(tmp_path: Path) -> None:
    """The nearest passage is one that was typed; the file's own vectors are silent."""
    buffers = [note("boiler.md", "dough everywhere"), note("bread.md", "it hums")]
    answer = asked(tmp_path, buffers, SearchRequest("warm", mode="semantic"), WARM)
    assert found(answer) == ["bread.md"]


def test_a_note_without_a_file_is_found(tmp_path: Path) -> None:
    """By words, by its name and by filters."""
    buffers = [note("new.md", "A tortoise.", title="Marmaduke", tags=["pets"])]
    for number, query in enumerate(("tortoise", "marmaduke", "#pets")):
        answer = asked(tmp_path / str(number), buffers, SearchRequest(query), Semantic())
        assert found(answer) == ["new.md"]


def test_a_buffer_that_says_what_its_file_says_is_left_to_the_index(tmp_path: Path) -> None:
    """Right after opening and after saving."""
    with typed(tmp_path, [BOILER]) as (db, over):
        assert Snapshot(db, over).shadowed == frozenset()
        with_it = search(db, SearchRequest("boiler radiator", explain=True), WARM, buffers=over)
        without = search(db, SearchRequest("boiler radiator", explain=True), WARM)
    assert with_it.hits == without.hits


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("-hums boiler", ["boiler.md", "bread.md"]),
        ("tag:garden", ["boiler.md"]),
        ("#house", []),
        ("path:deep", ["deep/stone.md"]),
    ],
)
def test_filters_and_exclusions_look_at_the_buffer(tmp_path: Path, query: str, expected: list[str]) -> None:
    """Tags and words are those on screen."""
    buffers = [note("boiler.md", "The boiler is quiet.", tags=["garden"])]
    assert found(asked(tmp_path, buffers, SearchRequest(query), Semantic())) == expected


def test_a_filter_of_the_request_reaches_buffers(tmp_path: Path) -> None:
    """A note that has no file, in a folder that no file is in."""
    buffers = [note("fresh/new.md", "A stone."), note("other.md", "A stone.")]
    request = SearchRequest("stone", filter=SearchFilter(folders=("fresh",)))
    assert found(asked(tmp_path, buffers, request, Semantic())) == ["fresh/new.md"]


WORDS = st.lists(st.sampled_from(["stone", "wall", "boiler", "hums", "dough", "rock", "tower"]), min_size=1, max_size=8)


@given(st.lists(WORDS, min_size=2, max_size=8), WORDS)
def test_scores_by_the_statistics_of_a_table_are_those_of_the_table(notes: list[list[str]], query: list[str]) -> None:
    """Our BM25 with a table's own statistics is FTS5's."""
    db = database.memory()
    fill(db, [note(f"{i}.md", " ".join(words)) for i, words in enumerate(notes)])
    parsed = parse(" ".join(query))
    phrases, match = any_phrases(parsed), any_words(parsed)
    statistics = terms.statistics(db, phrases)
    expected = terms.search(db, match, FIELD_WEIGHTS, 100)
    assert (statistics is None) == (not expected)
    if statistics is not None:
        assert {(chunk, n): pytest.approx(score, rel=1e-6, abs=1e-9) for chunk, n, score in expected} == {
            (chunk, n): score for chunk, n, score in terms.search_by(db, match, FIELD_WEIGHTS, statistics)
        }
    db.close()
