"""References: the links that mean the same."""

from pathlib import Path

import pytest

from synapse_ls.features.references import references
from synapse_ls.search.snapshot import Snapshot
from tests.support.links import looking, marked

BOILER = "---\naliases: [Heater]\n---\n# Boiler\n\nwords\n\n## Faults\n\nThe pump. ^pump\n\n## Faults\n"
TEXTS = {
    "Boiler.md": BOILER,
    "a.md": "[[Boiler]] 🍋 [[Heater]]\n\n![[Boiler#Faults]] and [[Boiler#faults-1|second]]\n",
    "b.md": "[x](Boiler.md) [y](./Boiler.md#faults) [[Boiler#^pump]]\n\n| [[Boiler\\|b]] |\n|---|\n",
    "c.md": "[two\nwords](Boiler.md) [[Other]] ![[plan.pdf]] `[[Boiler]]`\n",
    "d.md": "[[plan.pdf|the plan]] [z][r]\n\n[r]: Boiler.md\n",
}
WHOLE = [
    ("a.md", 0, 0), ("a.md", 0, 13), ("a.md", 2, 0), ("a.md", 2, 23), ("b.md", 0, 0), ("b.md", 0, 15), ("b.md", 0, 39),
    ("b.md", 2, 2), ("c.md", 0, 0), ("d.md", 0, 22), ("d.md", 2, 0),
]  # fmt: skip
FIRST = [("a.md", 2, 0), ("b.md", 0, 15)]
PUMP = [("b.md", 0, 39)]


def found(now: Snapshot, text: str, path: str = "here.md") -> list[tuple[str, int, int]]:
    """Return where the links are that mean what is at the mark."""
    return [(spot.path, spot.range.start.line, spot.range.start.utf32) for spot in references(now, marked(text, path))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[Boi‸ler]]", WHOLE),
        ("[x](Boi‸ler.md)", WHOLE),
        ("[[Hea‸ter]]", WHOLE),
        ("[[Boiler#Fa‸ults]]", FIRST),
        ("| [[Boiler#Fa‸ults\\|x]] |\n|---|", FIRST),
        ("[[Boiler#faults-‸1]]", [("a.md", 2, 23)]),
        ("[[Boiler#^pu‸mp]]", PUMP),
        ("[[pla‸n.pdf]]", [("c.md", 1, 28), ("d.md", 0, 0)]),
        ("[[Nowh‸ere]]", []),
    ],
)
def test_links_that_mean_what_a_link_means(tmp_path: Path, text: str, expected: list[tuple[str, int, int]]) -> None:
    """However they are written; a part of a note if the link names one."""
    with looking(tmp_path, TEXTS, files=("plan.pdf",)) as now:
        assert found(now, text) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("words", "wo‸rds", WHOLE),
        ("---\na", "‸---\na", WHOLE),
        ("## Faults\n\nThe", "## Fa‸ults\n\nThe", FIRST),
        ("## Faults\n\nThe", "## Faults‸\n\nThe", FIRST),
        ("## Faults\n\nThe", "## Faults\n‸\nThe", WHOLE),
        ("# Boiler", "‸# Boiler", []),
    ],
)
def test_links_to_the_heading_or_note_the_cursor_is_in(
    tmp_path: Path, old: str, new: str, expected: list[tuple[str, int, int]]
) -> None:
    """The heading only in its line."""
    with looking(tmp_path, TEXTS) as now:
        assert found(now, BOILER.replace(old, new, 1), "Boiler.md") == expected


def test_five_links_are_five_references(tmp_path: Path) -> None:
    """Each with its own range, in the order of the text; those of the note to itself count too."""
    with looking(tmp_path, {"t.md": "# T\n\n[[#T]]\n", "s.md": "[[t]] [[t]]\n[[t]] [[t]] [[t]]\n"}) as now:
        spots = references(now, marked("[[‸t]]"))
    assert [(spot.path, spot.range.start.line, spot.range.start.utf32, spot.range.end.utf32) for spot in spots] == [
        ("s.md", 0, 0, 5), ("s.md", 0, 6, 11), ("s.md", 1, 0, 5), ("s.md", 1, 6, 11), ("s.md", 1, 12, 17),
        ("t.md", 2, 0, 6),
    ]  # fmt: skip


def test_at_most_so_many(tmp_path: Path) -> None:
    """The first by path and place."""
    with looking(tmp_path, {"t.md": "", "b.md": "[[t]]", "c.md": "[[t]]"}, {"a.md": "[[t]]\n[[t]]\n"}) as now:
        assert [spot.path for spot in references(now, marked("[[‸t]]"), 3)] == ["a.md", "a.md", "b.md"]


def test_open_notes_speak_for_their_files(tmp_path: Path) -> None:
    """Links typed are there, links deleted or moved are not where they were; headings are those on the screen."""
    texts = {"t.md": "# T\n", "gone.md": "[[t]]\n", "moved.md": "[[t]]\n", "same.md": "[[t]]\n"}
    typed = {
        "gone.md": "nothing\n", "moved.md": "\n\n[[t#Typed]]\n", "new.md": "see ![[t]] [[x]]\n", "same.md": "[[t]]\n",
        "t.md": "# T\n\n# Typed\n\n[[#T]]\n",
    }  # fmt: skip
    with looking(tmp_path, texts, typed) as now:
        assert found(now, "[[‸t]]") == [("moved.md", 2, 0), ("new.md", 0, 4), ("same.md", 0, 0), ("t.md", 4, 0)]
        assert found(now, "# T\n\n# Ty‸ped\n\n[[#T]]\n", "t.md") == [("moved.md", 2, 0)]
        assert found(now, "# ‸T\n\n# Typed\n\n[[#T]]\n", "t.md") == [("t.md", 4, 0)]


def test_note_that_was_never_saved_has_its_own_links(tmp_path: Path) -> None:
    """Others cannot mean it yet."""
    with looking(tmp_path, {"a.md": "[[new]]"}, {"new.md": "# N\n\n[[#N]]\n"}) as now:
        assert found(now, "# ‸N\n\n[[#N]]\n", "new.md") == [("new.md", 2, 0)]


def test_links_with_their_label_first(tmp_path: Path) -> None:
    """The part of the note is named by the other part of the link."""
    texts = {"a.b.md": "# Top\n\n## Last\n", "s.md": "[[the label|a.b#last]] [[x|a.b]]\n"}
    with looking(tmp_path, texts, dialect="dendron") as now:
        assert found(now, "[[the lab‸el|a.b#last]]") == [("s.md", 0, 0)]
        assert found(now, "[[the lab‸el|a.b]]") == [("s.md", 0, 0), ("s.md", 0, 23)]
