"""The labels of links are one more text of the note that they mean."""

import pytest

from synapse_ls.links import resolver
from synapse_ls.store import anchors, notes
from synapse_ls.store.database import Connection
from tests.support.index import fill, note


def _called(db: Connection, word: str) -> list[str]:
    paths = {row.id: row.path for row in notes.recent(db, 999)}
    return [paths[found] for found, _ in anchors.search(db, f'"{word}"', 99)]


def test_label_finds_the_note_it_means(db: Connection) -> None:
    """Not the one that it stands in."""
    fill(db, [note("river.md", "x"), note("diary.md", "x", links=["river|the grey water"])])
    assert _called(db, "grey") == ["river.md"]


@pytest.mark.parametrize(
    "link", ["river", "river|River", "river|the Ister", "nowhere|grey"], ids=["bare", "title", "alias", "unresolved"]
)
def test_label_that_says_nothing_new_is_left_out(db: Connection, link: str) -> None:
    """Names of the note's own count as its title and aliases already."""
    fill(db, [note("river.md", "x", title="River", aliases=["The Ister"]), note("diary.md", "x", links=[link])])
    assert db.execute("SELECT count(*) FROM anchors").get == 0


def test_own_links_do_not_count(db: Connection) -> None:
    """A note that links to itself is not called that by others."""
    fill(db, [note("river.md", "x", links=["river|grey"])])
    assert _called(db, "grey") == []


def test_labels_follow_the_links(db: Connection) -> None:
    """Another label, another target, another name of the target, no target, no link."""
    fill(db, [note("river.md", "x"), note("sea.md", "x"), note("diary.md", "x", links=["river|grey"])])
    fill(db, [note("diary.md", "y", links=["river|slow"])])
    assert (_called(db, "grey"), _called(db, "slow")) == ([], ["river.md"])
    fill(db, [note("diary.md", "z", links=["sea|slow"])])
    assert _called(db, "slow") == ["sea.md"]
    fill(db, [note("sea.md", "x", aliases=["Slow"])])
    assert _called(db, "slow") == []
    fill(db, [note("sea.md", "x")])
    assert _called(db, "slow") == ["sea.md"]
    resolver.resolve_again(db, notes.delete(db, "sea.md"), ())
    assert db.execute("SELECT count(*) FROM anchors").get == 0
    fill(db, [note("sea.md", "x")])
    resolver.resolve_again(db, ["sea"], ())
    assert _called(db, "slow") == ["sea.md"]
    resolver.resolve_again(db, notes.delete(db, "diary.md"), ())
    assert _called(db, "slow") == []


def test_more_used_labels_first_and_no_more_than_fit(db: Connection) -> None:
    """A hub with thousands of labels has a bounded row."""
    rare = [note(f"{i}.md", "x", links=[f"hub|rare{i}"]) for i in range(120)]
    used = [note(f"u{i}.md", "x", links=["hub|used"]) for i in range(2)]
    fill(db, [note("hub.md", "x"), *rare, *used])
    assert _called(db, "used") == ["hub.md"]
    assert sum(bool(_called(db, f"rare{i}")) for i in range(120)) == 99
    fill(db, [note("long.md", "x", links=["hub|" + "word " * 5000])])
    assert _called(db, "used") == ["hub.md"]


def test_only_the_given_notes(db: Connection) -> None:
    """A filter works inside."""
    ids = fill(db, [note("a.md", "x"), note("b.md", "x"), note("c.md", "x", links=["a|grey", "b|grey"])])
    a, b = ids["a.md"], ids["b.md"]
    assert [n for n, _ in anchors.search(db, '"grey"', 9, [a])] == [a]
    assert [n for n, _ in anchors.search(db, '"grey"', 9, None, [a])] == [b]
    assert anchors.holding(db, '"grey"', [b, ids["c.md"]]) == [b]
