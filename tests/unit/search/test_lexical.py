"""Notes by their words, over real indexes."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synapse_ls.search.lexical import lexical
from synapse_ls.search.query import parse
from synapse_ls.store import notes as store_notes
from synapse_ls.store.database import Connection
from synapse_ls.store.records import NoteRecord
from tests.support.index import note, reading


def _found(db: Connection, query: str, *, prefix_last: bool = False) -> list[str]:
    hits = lexical(db, parse(query, prefix_last=prefix_last), 10)
    rows = store_notes.by_ids(db, [hit.note for hit in hits])
    return [rows[hit.note].path for hit in hits]


LITERAL = (
    note("agents.md", "A multi-agent system"),
    note("policy.md", "See POL-358 for details"),
    note("speech.md", "We don't know"),
    note("disk.md", "It reads 3 GB/s"),
    note("cloud.md", "Sign in at azure.com"),
    note("logic.md", "the operators AND and NEAR"),
    note("todo.md", "TODO: fix the error:timeout"),
    note("cpp.md", "C++ templates"),
    note("csharp.md", "C# generics"),
    note("dotnet.md", "the .NET runtime"),
    note("vitamin.md", "Vitamin C in a net of lemons"),
)


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("multi-agent", ["agents.md"]),
        ("multiagent", ["agents.md"]),
        ("POL-358", ["policy.md"]),
        ("don't", ["speech.md"]),
        ("GB/s", ["disk.md"]),
        ("azure.com", ["cloud.md"]),
        ('"unbalanced error', ["todo.md"]),
        ("NEAR(x y)", ["logic.md"]),
        ("*", []),
        ("(", []),
        ("error:timeout", ["todo.md"]),
        ("TODO: fix", ["todo.md"]),
        ("C++", ["cpp.md"]),
        ("C#", ["csharp.md"]),
        (".NET", ["dotnet.md"]),
        ('"vitamin c"', ["vitamin.md"]),
        ('"c vitamin"', []),
    ],
)
def test_signs_are_literal(tmp_path: Path, query: str, paths: list[str]) -> None:
    """Signs in a word are part of it and never an operator."""
    with reading(tmp_path, LITERAL) as db:
        assert _found(db, query) == paths


SCRIPTS = (
    note("chemist.md", "Le Châtelier's principle"),
    note("city.md", "A weekend in Łódź"),
    note("road.md", "Die Straße"),
    note("office.md", "a ﬁle in Ｆｕｌｌ width with a soft\u00adhyphen"),
    note("contract.md", "我们需要中文合約的副本"),
    note("game.md", "子供はしりとりが好きです"),
    note("glued.md", "重跑gen-itgc后"),
    note("hindi.md", "हिन्दी में किताब"),
    note("bengali.md", "বাংলা ভাষা"),
    note("🍋 curd.md", "Zest"),
)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Chatelier", "chemist.md"),
        ("Châtelier", "chemist.md"),
        ("lodz", "city.md"),
        ("Łódź", "city.md"),
        ("strasse", "road.md"),
        ("file", "office.md"),
        ("full", "office.md"),
        ("softhyphen", "office.md"),
        ("合約", "contract.md"),
        ("中文合約", "contract.md"),
        ("副", "contract.md"),
        ("本", "contract.md"),
        ("しりとり", "game.md"),
        ("itgc", "glued.md"),
        ("किताब", "hindi.md"),
        ("ভাষা", "bengali.md"),
        ("🍋", "🍋 curd.md"),
    ],
)
def test_scripts_and_spellings(tmp_path: Path, query: str, path: str) -> None:
    """Both sides are folded alike, scripts without spaces are found in parts."""
    with reading(tmp_path, SCRIPTS) as db:
        assert _found(db, query) == [path]


def test_a_question_falls_back_to_most_and_rarest_words(tmp_path: Path) -> None:
    """No note holds every word: more and rarer words come first, and one word is enough to be found."""
    records = [
        note("one.md", "The boiler"),
        note("rare.md", "Bleed valves carefully"),
        note("most.md", "Bleed the radiator when the boiler is cold"),
        *(note(f"other{i}.md", "A boiler service") for i in range(5)),
    ]
    with reading(tmp_path, records) as db:
        found = _found(db, "why does my boiler need someone to bleed a noisy radiator every winter")
    assert found[:2] == ["most.md", "rare.md"]
    assert len(found) == 8


def test_words_may_stand_in_different_passages(tmp_path: Path) -> None:
    """A note that holds all words in several chunks comes before one that holds some of them in one."""
    records = [
        note("part.md", "pension pension pension"),
        note("all.md", "The pension", "The insurance and more text about something else entirely"),
        note("other.md", "insurance of a car"),
    ]
    with reading(tmp_path, records) as db:
        assert _found(db, "pension insurance")[0] == "all.md"


@pytest.mark.parametrize(
    "better",
    [
        note("a.md", "Nothing", title="Compost"),
        note("a.md", "Nothing", aliases=["Compost"]),
        note("a.md", "Nothing", tags=["compost"]),
    ],
)
def test_fields_weigh_more_than_the_body(tmp_path: Path, better: NoteRecord) -> None:
    """Title, aliases and tags count more than the text."""
    with reading(tmp_path, [note("b.md", "compost once among other words"), better]) as db:
        assert _found(db, "compost") == ["a.md", "b.md"]


def test_exact_words_before_prefixes(tmp_path: Path) -> None:
    """The word itself is worth more than one that begins like it."""
    with reading(tmp_path, [note("a.md", "wording here"), note("b.md", "word here"), note("c.md", "else")]) as db:
        assert _found(db, "word", prefix_last=True) == ["b.md", "a.md"]


def test_ties_by_path(tmp_path: Path) -> None:
    """Equal notes stand in the order of their paths, whatever order they were written in."""
    with reading(tmp_path, [note(f"{name}.md", "same words", title="Same") for name in "cab"]) as db:
        assert _found(db, "same words") == ["a.md", "b.md", "c.md"]


def test_only_the_given_notes(tmp_path: Path) -> None:
    """A restriction works before the ranking: nothing is lost behind better notes outside."""
    records = [*(note(f"{i:03}.md", "lentil lentil", title="Lentil") for i in range(600)), note("in.md", "one lentil")]
    with reading(tmp_path, records) as db:
        row = store_notes.by_path(db, "in.md")
        assert row is not None
        assert [hit.note for hit in lexical(db, parse("lentil"), 5, [row.id])] == [row.id]
        assert lexical(db, parse("lentil"), 5, []) == []


def test_coverage_is_the_share_of_the_words(tmp_path: Path) -> None:
    """All words give 1, some give less."""
    with reading(tmp_path, [note("a.md", "salt and pepper"), note("b.md", "salt")]) as db:
        first, second = lexical(db, parse("salt pepper"), 5)
    assert first.coverage == 1
    assert 0 < second.coverage < 1


def test_together_is_the_share_of_one_passage(tmp_path: Path) -> None:
    """Words in several passages are all held, and not together; a title stands with each passage."""
    records = [
        note("apart.md", "salt here", "pepper there"), note("one.md", "salt, pepper"),
        note("titled.md", "salt", title="Pepper"),
    ]  # fmt: skip
    with reading(tmp_path, records) as db:
        paths = {row.id: row.path for row in store_notes.recent(db, 9)}
        found = {paths[hit.note]: (hit.coverage, hit.together == 1) for hit in lexical(db, parse("salt pepper"), 5)}
    assert found == {"apart.md": (1, False), "one.md": (1, True), "titled.md": (1, True)}


SPECIAL = st.text(alphabet=st.sampled_from('ab中の🍋"*()-#:+. ^{}AND'), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(queries=st.lists(SPECIAL | st.text(max_size=20), min_size=5, max_size=20))
def test_no_query_is_an_error(tmp_path_factory: pytest.TempPathFactory, queries: list[str]) -> None:
    """Whatever is typed makes a valid expression."""
    with reading(tmp_path_factory.mktemp("index"), LITERAL[:2]) as db:
        for query in queries:
            lexical(db, parse(query, prefix_last=True), 5)
