"""Whole searches over small real indexes."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synapse_ls.core.errors import ModelError
from synapse_ls.core.model import Bands, Hit, Mode, SearchAnswer, SearchFilter, SearchRequest
from synapse_ls.search.searcher import SearchCancelledError, Semantic, search
from synapse_ls.store.database import Connection
from tests.support.index import note, reading, vector

HOUSE = (
    note("Home.md", "Start here", aliases=["Index page"], links=["Boiler"], mtime=1),
    note("House/Boiler.md", "Bleed the radiator before winter", tags=["house"], mtime=5),
    note("House/Damp.md", "Mould behind the wardrobe", tags=["house/walls"], mtime=4),
    note("Garden/Compost.md", "Turn the heap", links=["Boiler"], mtime=3),
    note("Garden/Slugs.md", "Beer traps and copper tape", mtime=2),
)
PLACES = {
    "Start": vector(0, 0, 1),
    "Bleed": vector(1),
    "Mould": vector(0.8, 0.6),
    "Turn": vector(0, 1),
    "Beer": vector(-1),
}
WARMTH = Semantic(lambda _: vector(1, 0.1), "ok")
NONSENSE = Semantic(lambda _: vector(0, 0, 0, 1), "ok")


def _ask(db: Connection, query: str, semantic: Semantic = WARMTH, mode: Mode = "hybrid") -> SearchAnswer:
    return search(db, SearchRequest(query, mode=mode, explain=True), semantic)


def _paths(answer: SearchAnswer) -> list[str]:
    return [hit.path for hit in answer.hits]


def _hit(answer: SearchAnswer, path: str) -> Hit:
    return next(hit for hit in answer.hits if hit.path == path)


def test_all_legs_answer(tmp_path: Path) -> None:
    """Words, meaning and links each bring their notes, and each hit says who found it."""
    with reading(tmp_path, HOUSE, PLACES) as db:
        answer = _ask(db, "radiator")
    assert _paths(answer) == ["House/Boiler.md", "House/Damp.md", "Garden/Compost.md", "Home.md"]
    assert [hit.matched_by for hit in answer.hits] == [("lexical", "semantic"), ("semantic",), ("graph",), ("graph",)]
    assert [hit.band for hit in answer.hits] == ["strong", "strong", "weak", "weak"]
    assert (answer.lexical.state, answer.semantic.state, answer.graph.state) == ("ok", "ok", "ok")
    assert (answer.semantic.coverage, answer.generation) == (1, 1)
    assert answer.hits[0].snippet.highlights


def test_ranks_are_told_on_request(tmp_path: Path) -> None:
    """Ranks count from 1 and are there only with explain."""
    with reading(tmp_path, HOUSE, PLACES) as db:
        ranks = _hit(_ask(db, "radiator"), "House/Damp.md").ranks
        silent = search(db, SearchRequest("radiator"), WARMTH).hits[0].ranks
    assert ranks is not None
    assert (ranks.fused, ranks.lexical, ranks.semantic) == (2, None, 2)
    assert silent is None


@pytest.mark.parametrize(
    ("mode", "states"),
    [
        ("lexical", ("ok", "off", "off")),
        ("semantic", ("off", "ok", "off")),
        ("hybrid", ("ok", "ok", "ok")),
    ],
)
def test_modes_turn_legs_off(tmp_path: Path, mode: Mode, states: tuple[str, str, str]) -> None:
    """A mode names the legs that run."""
    with reading(tmp_path, HOUSE, PLACES) as db:
        answer = _ask(db, "radiator", mode=mode)
    assert (answer.lexical.state, answer.semantic.state, answer.graph.state) == states


@pytest.mark.parametrize(
    ("query", "title"), [("damp", "House/Damp.md"), ("INDEX PAGE", "Home.md"), ("compost", "Garden/Compost.md")]
)
def test_a_note_called_so_comes_first(tmp_path: Path, query: str, title: str) -> None:
    """A title or alias that equals the query beats every other evidence."""
    crowd = [note(f"x{i}.md", f"{query} {query} {query}") for i in range(5)]
    with reading(tmp_path, [*HOUSE, *crowd], PLACES) as db:
        first = _ask(db, query).hits[0]
    assert (first.path, first.band) == (title, "strong")


def _broken(_: str) -> bytes:
    raise ModelError("the model is damaged; pull it again")


@pytest.mark.parametrize(
    ("semantic", "state", "told"),
    [
        (Semantic(None, "unavailable", "loading"), "unavailable", "loading"),
        (Semantic(_broken), "unavailable", "the model is damaged; pull it again"),
        (Semantic(lambda _: b"\0" * 8), "unavailable", "the index is being made anew for another model"),
        (Semantic(), "off", None),
    ],
)
def test_a_leg_that_fails_is_named_and_the_others_answer(
    tmp_path: Path, semantic: Semantic, state: str, told: str | None
) -> None:
    """No model, a broken one, one of other dimensions: words still find."""
    with reading(tmp_path, HOUSE, PLACES) as db:
        answer = _ask(db, "radiator", semantic)
    assert (answer.semantic.state, answer.semantic.note, answer.lexical.state) == (state, told, "ok")
    assert answer.hits[0].path == "House/Boiler.md"


def test_an_index_without_vectors(tmp_path: Path) -> None:
    """Before a model was ever there, words answer."""
    with reading(tmp_path, HOUSE) as db:
        answer = _ask(db, "radiator")
    assert (answer.semantic.state, answer.hits[0].path) == ("unavailable", "House/Boiler.md")


def test_an_empty_index(tmp_path: Path) -> None:
    """No notes, no hits, no error."""
    with reading(tmp_path, [], {}) as db:
        assert [_ask(db, query).hits for query in ("radiator", "", "#tag", "-x")] == [()] * 4


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("", ["House/Boiler.md", "House/Damp.md", "Garden/Compost.md", "Garden/Slugs.md", "Home.md"]),
        ("#house", ["House/Boiler.md", "House/Damp.md"]),
        ("tag:house/walls", ["House/Damp.md"]),
        ("path:Garden/", ["Garden/Compost.md", "Garden/Slugs.md"]),
        ("path:Garden/ -copper", ["Garden/Compost.md"]),
        ("title:da", ["House/Damp.md"]),
        ("-radiator path:House", ["House/Damp.md"]),
    ],
)
def test_without_words_the_notes_changed_last(tmp_path: Path, query: str, paths: list[str]) -> None:
    """Filters alone list what they leave, newest first."""
    with reading(tmp_path, HOUSE, PLACES) as db:
        assert _paths(_ask(db, query)) == paths


def test_filters_of_request_and_query_must_both_hold(tmp_path: Path) -> None:
    """A folder asked for by the client is not widened by what is typed."""
    with reading(tmp_path, HOUSE, PLACES) as db:
        request = SearchRequest("path:Garden winter", filter=SearchFilter(folders=("House",)))
        assert search(db, request, WARMTH).hits == ()


def test_excluded_words_hold_for_every_leg(tmp_path: Path) -> None:
    """A note that holds an excluded word is found neither by meaning nor by links."""
    with reading(tmp_path, HOUSE, PLACES) as db:
        assert _paths(_ask(db, "radiator -mould -heap")) == ["House/Boiler.md", "Home.md"]


def test_a_filter_that_leaves_few_notes_loses_none(tmp_path: Path) -> None:
    """Five notes of a folder are ranked although hundreds outside are better."""
    crowd = [note(f"out/{i}.md", "radiator radiator", f"warm {i}", title="Radiator") for i in range(300)]
    few = [note(f"in/{i}.md", f"a radiator {i}") for i in range(5)]
    places = {f"warm {i}": vector(1) for i in range(300)} | {f"a radiator {i}": vector(0.5, i) for i in range(5)}
    with reading(tmp_path, [*crowd, *few], places) as db:
        assert sorted(_paths(_ask(db, "path:in radiator"))) == [f"in/{i}.md" for i in range(5)]


def test_near_lifts_what_is_linked(tmp_path: Path) -> None:
    """Of two equal notes the one linked with the anchor comes first."""
    records = [note("a.md", "same", title="T"), note("b.md", "same", title="T", links=["c"]), note("c.md", "other")]
    with reading(tmp_path, records) as db:
        far = search(db, SearchRequest("same"), Semantic())
        near = search(db, SearchRequest("same", near="c.md"), Semantic())
        unknown = search(db, SearchRequest("same", near="none.md"), Semantic())
    assert [_paths(answer)[0] for answer in (far, near, unknown)] == ["a.md", "b.md", "a.md"]


@pytest.mark.parametrize("query", ["qwxzvk pqrsdf", "zzzz", "🦄🦄", "%%%"])
def test_nonsense_is_never_confident(tmp_path: Path, query: str) -> None:
    """A query that fits nothing gives no hit, or weak ones."""
    with reading(tmp_path, HOUSE, PLACES) as db:
        assert {hit.band for hit in _ask(db, query, NONSENSE).hits} <= {"weak"}


def test_a_typo_is_found(tmp_path: Path) -> None:
    """The nearest word answers, never confidently, and is marked."""
    records = [*HOUSE, note("Zettelkasten.md", "The zettelkasten of a sociologist")]
    with reading(tmp_path, records, PLACES) as db:
        hit = _ask(db, "zettleksten", Semantic()).hits[0]
    assert (hit.path, hit.band, len(hit.snippet.highlights)) == ("Zettelkasten.md", "weak", 1)


def test_words_pages_apart_answer_nothing_for_sure(tmp_path: Path) -> None:
    """A long note that holds every word somewhere is found, and not called a strong hit; nor is its rank changed."""
    records = [
        note("journal.md", "the dough was sticky", "a long walk", "no rest today"),
        note("bread.md", "let the dough rest"),
        note("title.md", "an hour, covered, to rest", title="Dough"),
    ]
    with reading(tmp_path, records) as db:
        bands = {hit.path: hit.band for hit in _ask(db, "dough rest", Semantic()).hits}
    assert bands == {"bread.md": "strong", "title.md": "strong", "journal.md": "weak"}


def test_a_note_with_half_a_surrogate_pair_in_its_name_is_near_nothing(tmp_path: Path) -> None:
    """What no index can hold is no error."""
    with reading(tmp_path, HOUSE) as db:
        assert search(db, SearchRequest("radiator", near="\ud800.md"), Semantic()).hits


@pytest.mark.parametrize(
    "query",
    [
        "a-" * 400_000,
        '"one two" ' * 80_000,
        " ".join(f'"p{i} q{i}"' for i in range(80_000)),
        " ".join(f"-x{i} tag:t{i} #u{i} path:f{i} title:n{i}" for i in range(20_000)),
        "radiator " * 100_000,
        "字" * 300_000,
        "x" * 1_000_000,
        " " * 1_000_000,
    ],
    ids=["joints", "phrase", "phrases", "filters", "words", "unspaced", "word", "blanks"],
)
def test_a_query_of_any_length_is_answered_soon(tmp_path: Path, query: str) -> None:
    """Its beginning is looked at; a pasted page costs what its first lines cost."""
    with reading(tmp_path, HOUSE) as db:
        assert _ask(db, query, Semantic()).elapsed_ms < 1000


def test_a_model_does_not_vote_on_what_it_cannot_read(tmp_path: Path) -> None:
    """An English model is left out where words answer a query in another script; alone it still may."""
    records = [note("contract.md", "中文合約"), note("noise.md", "noise")]
    with reading(tmp_path, records, {"noise": vector(1), "中文": vector(0, 1)}) as db:
        answer = _ask(db, "合約")
        alone = _ask(db, "天気予報")
        able = _ask(db, "合約", Semantic(lambda _: vector(1), "ok", english_only=False))
    assert (_paths(answer), answer.semantic.state) == (["contract.md"], "ok")
    assert answer.semantic.note == "the model knows English only"
    assert _paths(alone) == ["noise.md"]
    assert _paths(able) == ["contract.md", "noise.md"]


@pytest.mark.parametrize(
    ("semantic", "bands"),
    [
        (Semantic(lambda _: vector(1), "ok"), ["weak"]),
        (Semantic(lambda _: vector(1), "ok", english_only=False), ["strong"]),
        (Semantic(lambda _: vector(1, 0.5), "ok", english_only=False, bands=Bands(0.8, 0.85, 0.95)), ["good"]),
        (Semantic(lambda _: vector(1, 0.5), "ok", english_only=False, bands=Bands(0.9, 0.95, 0.99)), []),
    ],
    ids=["English only", "any language", "bands of its own", "below them"],
)
def test_meaning_is_sure_where_its_model_reads_the_query(tmp_path: Path, semantic: Semantic, bands: list[str]) -> None:
    """How sure, its own bands say; what lies below them is not found."""
    with reading(tmp_path, [note("noise.md", "noise")], {"noise": vector(1)}) as db:
        assert [hit.band for hit in _ask(db, "天気予報", semantic).hits] == bands


def test_limit_is_clamped(tmp_path: Path) -> None:
    """Silly limits give the nearest sensible one."""
    with reading(tmp_path, HOUSE, PLACES) as db:
        assert len(search(db, SearchRequest("", limit=0), WARMTH).hits) == 1
        assert len(search(db, SearchRequest("", limit=10**6), WARMTH).hits) == 5


def test_a_cancelled_search_stops(tmp_path: Path) -> None:
    """The asker's change of mind is seen between the steps."""
    with reading(tmp_path, HOUSE, PLACES) as db, pytest.raises(SearchCancelledError):
        search(db, SearchRequest("radiator"), WARMTH, lambda: True)


@settings(deadline=None, max_examples=30)
@given(queries=st.lists(st.text(max_size=30), min_size=5, max_size=10), mode=st.sampled_from(["hybrid", "semantic"]))
def test_no_query_is_an_error(tmp_path_factory: pytest.TempPathFactory, queries: list[str], mode: Mode) -> None:
    """Whatever is typed is answered, and hits come without repeats in the order of their scores."""
    with reading(tmp_path_factory.mktemp("index"), HOUSE, PLACES) as db:
        for query in queries:
            hits = _ask(db, query, mode=mode).hits
            assert len({hit.path for hit in hits}) == len(hits)
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
