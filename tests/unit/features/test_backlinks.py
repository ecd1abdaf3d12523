"""Backlinks: the links to a note with their lines."""

from pathlib import Path

from synapse_ls.features.backlinks import Backlink, backlinks
from synapse_ls.search.snapshot import Snapshot
from tests.support.links import looking

TEXTS = {
    "Boiler.md": "# Boiler\n\nSee [[Boiler]].\n",
    "a.md": "# One\r\n\r\n- the 🍋 [[Boiler]] leaks\r\n- again: [it](Boiler.md#x)\r\n",
    "b.md": f"# Two\n\n{'long ' * 100}[[Boiler|heater]]{' tail' * 100}\n",
    "c.md": "---\nrelated: '[[Boiler]]'\n---\n# Three\n\ntext\n",
    "d.md": "[two\nwords](Boiler.md) end\n",
}


def shown(now: Snapshot, limit: int = 99) -> list[tuple[str, str, str]]:
    """Return note, line and what is marked in it."""
    return [(link.path, link.line, marked(link)) for link in backlinks(now, "Boiler.md", limit).links]


def marked(link: Backlink) -> str:
    """Return the link as it stands in its line."""
    return link.line[link.link.start : link.link.end]


def test_each_link_comes_with_its_line(tmp_path: Path) -> None:
    """Without those of the note itself; a long line is cut around the link, front matter has none."""
    with looking(tmp_path, TEXTS) as now:
        found = shown(now)
    assert [(path, mark) for path, _, mark in found] == [
        ("a.md", "[[Boiler]]"),
        ("a.md", "[it](Boiler.md#x)"),
        ("b.md", "[[Boiler|heater]]"),
        ("c.md", ""),
        ("d.md", "[two"),
    ]
    assert [line for path, line, _ in found if path != "b.md"] == [
        "- the 🍋 [[Boiler]] leaks", "- again: [it](Boiler.md#x)", "", "[two"
    ]  # fmt: skip
    assert len(found[2][1]) < 260


def test_more_than_asked_for_are_counted(tmp_path: Path) -> None:
    """The first come, by path and place, with the titles of their notes."""
    with looking(tmp_path, TEXTS) as now:
        found = backlinks(now, "Boiler.md", 2)
    assert ([link.title for link in found.links], found.total) == (["One", "One"], 5)


def test_open_notes_count_as_they_are_on_the_screen(tmp_path: Path) -> None:
    """In place of their files."""
    with looking(tmp_path, TEXTS, {"a.md": "# One\n\nnow [[Boiler]] here\n", "new.md": "fresh [[Boiler]]\n"}) as now:
        found = shown(now)
    assert found[0] == ("a.md", "now [[Boiler]] here", "[[Boiler]]")
    assert found[-1] == ("new.md", "fresh [[Boiler]]", "[[Boiler]]")


def test_note_that_is_not_there_has_none(tmp_path: Path) -> None:
    """Nor has one without links to it."""
    with looking(tmp_path, TEXTS) as now:
        assert (backlinks(now, "Nowhere.md", 9).total, backlinks(now, "d.md", 9).total) == (0, 0)
