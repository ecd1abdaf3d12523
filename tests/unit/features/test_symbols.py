"""Workspace symbols: which names, in which order."""

from collections.abc import Iterator

import pytest

from synapse_ls.core.model import Hit, LegState, SearchAnswer, SearchRequest, Snippet
from synapse_ls.core.text import Position, Range
from synapse_ls.features.symbols import Symbol, workspace_symbols
from synapse_ls.indexer.record import note_record
from synapse_ls.links import resolver
from synapse_ls.store import notes
from synapse_ls.store.database import Connection, Index

TEXTS = {
    "Boiler.md": "# Boiler\n\n## Pressure\n\n### Low pressure\n\n## Boiler man\n",
    "Boiler room.md": "---\ntags: [house/boiler]\n---\nwords",
    "old boiler.md": "words #todo",
    "Big.md": "---\ntitle: Reboiler\naliases: [Boiler]\n---\nwords",
    "Ł.md": "---\ntitle: Łódź\n---\nwords",
    "stars.md": "---\ntitle: 'a*b'\naliases: ['what?', '[x]', 'a]b', '100%_']\n---\nwords",
}
PLACE = Range(Position(3, 0, 0, 0), Position(4, 0, 0, 0))
NOTHING = SearchAnswer(1, (), LegState("ok"), LegState("off"), LegState("off"), 0.0)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Give a reader of an index of the notes above; the first was changed last."""
    index = Index(tmp_path_factory.mktemp("symbols") / "i" / "index.db")
    with index.write() as writer:
        records = [note_record(path, text.encode(), -age, 1 << 20) for age, (path, text) in enumerate(TEXTS.items())]
        resolver.resolve_again(writer, (), [notes.put(writer, record).note for record in records])
    with index.read() as reader:
        yield reader
    index.close()


def asked(db: Connection, query: str, answer: SearchAnswer = NOTHING, limit: int = 200) -> list[Symbol]:
    """Return the symbols of a query."""
    return workspace_symbols(db, query, lambda _: answer, limit)


def names(db: Connection, query: str) -> list[tuple[str, str]]:
    """Return kinds and names of the symbols of a query."""
    return [(symbol.kind, symbol.name) for symbol in asked(db, query)]


def test_exact_names_come_before_prefixes_words_and_parts(db: Connection) -> None:
    """And of one class, notes before aliases before headings before tags."""
    assert names(db, "boiler") == [
        ("note", "Boiler"),
        ("alias", "Boiler"),
        ("heading", "Boiler"),
        ("note", "Boiler room"),
        ("heading", "Boiler man"),
        ("note", "old boiler"),
        ("tag", "#house/boiler"),
        ("note", "Reboiler"),
    ]


@pytest.mark.parametrize("query", ["BOILER", "  boiler ", "Ｂoiler"])
def test_spelling_does_not_decide(db: Connection, query: str) -> None:
    """Case, blanks around it, full width."""
    assert names(db, query) == names(db, "boiler")


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("lodz", ("note", "Łódź")),
        ("blrm", ("note", "Boiler room")),
        ("#todo", ("tag", "#todo")),
        ("#house", ("tag", "#house/boiler")),
        ("todo", ("tag", "#todo")),
        ("low pr", ("heading", "Low pressure")),
        ("a*b", ("note", "a*b")),
        ("*", ("note", "a*b")),
        ("?", ("alias", "what?")),
        ("[x]", ("alias", "[x]")),
        ("[", ("alias", "[x]")),
        ("]", ("alias", "[x]")),
        ("a]b", ("alias", "a]b")),
        ("%_", ("alias", "100%_")),
    ],
)
def test_first_of_a_query(db: Connection, query: str, first: tuple[str, str]) -> None:
    """Fuzzy letters, tags with their sign, and signs that a pattern would take for its own."""
    assert names(db, query)[0] == first


@pytest.mark.parametrize("query", ["*", "?", "[", "**", "[a-z]", "[^x]"])
def test_signs_of_patterns_match_themselves_alone(db: Connection, query: str) -> None:
    """They are text."""
    assert all(all(sign in name for sign in query) for _, name in names(db, query))


@pytest.mark.parametrize("query", ["", "   ", "\u0301"])
def test_empty_query_gives_the_notes_changed_last(db: Connection, query: str) -> None:
    """Newest first, each once, notes alone."""
    titles = ["Boiler", "Boiler room", "old boiler", "Reboiler", "Łódź", "a*b"]
    assert names(db, query) == [("note", title) for title in titles]


@pytest.mark.parametrize("query", ["x" * 60_000, "a*" * 10_000, "\0", "\ud800", "'; DROP TABLE notes", '"'])
def test_no_query_is_an_error(db: Connection, query: str) -> None:
    """However long or strange."""
    asked(db, query)


def test_places_and_containers(db: Connection) -> None:
    """A heading says what it lies under; names of the note lead to its top."""
    (heading,) = [symbol for symbol in asked(db, "low pressure") if symbol.kind == "heading"]
    assert heading.container == "Boiler.md > Boiler > Pressure"
    assert heading.range.start.line == 4
    (alias,) = [symbol for symbol in asked(db, "boiler") if symbol.kind == "alias"]
    assert (alias.path, alias.container, alias.range.start.line) == ("Big.md", "Big.md (Reboiler)", 0)


def test_hits_of_a_search_follow_the_names(db: Connection) -> None:
    """Notes that are listed already are not listed again."""
    hits = tuple(
        Hit(path, PLACE, path[:-3], ("Up", "Down"), Snippet(""), 1.0, "good", ("lexical",))
        for path in ("Boiler.md", "stars.md")
    )
    answer = SearchAnswer(1, hits, LegState("ok"), LegState("off"), LegState("off"), 0.0)
    last = asked(db, "boiler", answer)[-1]
    assert last == Symbol("stars", "note", "stars.md", PLACE, "stars.md > Up > Down")
    assert [symbol.path for symbol in asked(db, "boiler", answer)].count("stars.md") == 1


def test_limit_ends_the_list_and_spares_the_search(db: Connection) -> None:
    """Names alone fill it."""

    def never(_: SearchRequest) -> SearchAnswer:
        raise AssertionError

    found = workspace_symbols(db, "boiler", never, 3)
    assert [(symbol.kind, symbol.name) for symbol in found] == names(db, "boiler")[:3]
