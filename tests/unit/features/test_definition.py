"""Definition of a link: where it leads."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from synapse_ls.core.text import Position
from synapse_ls.features.cursor import TOP, Spot
from synapse_ls.features.definition import definition
from synapse_ls.search.snapshot import Snapshot
from tests.support.links import looking, marked

TEXTS = {
    "House/Boiler.md": "---\ntitle: Boiler\n---\n# Boiler\n\n## Faults\n\nThe pump\nstops. ^pump\n\n## Faults\n",
    "a/b/same.md": "# One\n\n## Part\n",
    "c/same.md": "# Two\n",
    "d/same.md": "# Three\n\n## Part\n",
}


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    """Give a snapshot of the notes above."""
    with looking(tmp_path_factory.mktemp("definition"), TEXTS, files=("img/plan.pdf",)) as snapshot:
        yield snapshot


def starts(spots: list[Spot]) -> list[tuple[str, int]]:
    """Return paths and lines."""
    return [(spot.path, spot.range.start.line) for spot in spots]


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("[[Boi‸ler]]", "House/Boiler.md", 0),
        ("![[Boi‸ler]]", "House/Boiler.md", 0),
        ("[x](House/Boi‸ler.md)", "House/Boiler.md", 0),
        ("see [‸x][r]\n\n[r]: House/Boiler.md#faults", "House/Boiler.md", 5),
        ("[[Boiler#Fa‸ults]]", "House/Boiler.md", 5),
        ("[x](House/Boiler.md#fau‸lts-1)", "House/Boiler.md", 10),
        ("[[Boiler#^pu‸mp]]", "House/Boiler.md", 7),
        ("[[Boiler#Not‸hing]]", "House/Boiler.md", 0),
        ("![[pla‸n.pdf]]", "img/plan.pdf", 0),
        ("| [[Boiler#Faults\\|b‸]] |\n|---|", "House/Boiler.md", 5),
        ("[two\nwo‸rds](House/Boiler.md)", "House/Boiler.md", 0),
        ("🍋 日本 [[‸Boiler]]", "House/Boiler.md", 0),
    ],
)
def test_link_leads_to_its_place(now: Snapshot, text: str, path: str, line: int) -> None:
    """The line of a heading or block, else the top."""
    assert starts(definition(now, marked(text))) == [(path, line)]


@pytest.mark.parametrize("text", ["no ‸link", "[[No‸where]]", "`[[Bo‸iler]]`", "[x](https://‸x.org)", "‸"])
def test_what_leads_nowhere_has_none(now: Snapshot, text: str) -> None:
    """Code, words, web addresses and names of nothing."""
    assert definition(now, marked(text)) == []


def test_range_is_that_of_the_heading_or_block(now: Snapshot) -> None:
    """All of it, and nothing of a note as a whole."""
    (heading,) = definition(now, marked("[[Boiler#Fa‸ults]]"))
    (block,) = definition(now, marked("[[Boiler#^pu‸mp]]"))
    (note,) = definition(now, marked("[[Boi‸ler]]"))
    assert (heading.range.start, heading.range.end) == (Position(5, 0, 0, 0), Position(5, 9, 9, 9))
    assert (block.range.start.line, block.range.end.line) == (7, 8)
    assert note.range == TOP


def test_all_that_an_ambiguous_link_can_mean(now: Snapshot) -> None:
    """The nearest first, each at the part that is named, if it has it."""
    assert starts(definition(now, marked("[[sa‸me]]"))) == [("c/same.md", 0), ("a/b/same.md", 0), ("d/same.md", 0)]
    assert starts(definition(now, marked("[[same#Pa‸rt]]"))) == [
        ("c/same.md", 0),
        ("a/b/same.md", 2),
        ("d/same.md", 2),
    ]


def test_places_are_those_on_the_screen(tmp_path: Path) -> None:
    """A heading that moved in an open note, and one that was typed there."""
    typed = {"b.md": "new\nlines\n\n# Old\n\n# Typed\n", "here.md": "[[#Below]]\n\n# Below\n"}
    with looking(tmp_path, {"b.md": "# Old\n", "here.md": ""}, typed) as now:
        assert starts(definition(now, marked("[[b#O‸ld]]"))) == [("b.md", 3)]
        assert starts(definition(now, marked("[[b#Ty‸ped]]"))) == [("b.md", 5)]
        assert starts(definition(now, marked("[[#Be‸low]]"))) == [("here.md", 2)]
