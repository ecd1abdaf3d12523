"""A change is followed by the links that could mean it and by no others, however many there are."""

import pytest

from synapse_ls.indexer.record import note_record
from synapse_ls.links import candidates, resolver
from synapse_ls.links.dialects import DIALECTS
from synapse_ls.links.names import key
from synapse_ls.store import links, notes
from synapse_ls.store.database import Connection
from synapse_ls.store.records import NoteRecord
from tests.support.index import fill, note

HUB = 9_000


def test_a_hub_is_looked_at_when_its_name_changes_and_only_then(db: Connection) -> None:
    """Nine thousand backlinks: an unrelated note costs nothing, a rename costs each link once."""
    fill(db, [note("hub.md"), *(note(f"n/{i}.md", links=["hub", f"none {i}"]) for i in range(HUB))])
    resolved = "SELECT count(*) FROM links WHERE resolved IS NOT NULL"
    assert db.execute(resolved).get == HUB

    new = notes.put(db, note("unrelated.md", links=["hub"]))
    assert resolver.resolve_again(db, new.names, [new.note]) == 1

    edited = notes.put(db, note("hub.md", "another text", links=["unrelated"]))
    assert resolver.resolve_again(db, edited.names, [edited.note]) == 1

    titled = notes.put(db, note("hub.md", title="The middle", aliases=["Centre"]))
    assert titled.names == {key("hub"), key("The middle"), key("Centre")}  # its title was its name until now

    names = notes.put(db, note("moved/wheel.md")).names | notes.delete(db, "hub.md")
    assert resolver.resolve_again(db, names, ()) == HUB + 1
    assert db.execute(resolved).get == 0

    back = notes.put(db, note("sub/hub.md"))
    assert resolver.resolve_again(db, back.names, ()) == HUB + 1
    assert db.execute(resolved).get == HUB + 1


def test_links_that_agree_are_chosen_once(db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look-up a name and folder, not one a link; what did not change is not written."""
    fill(db, [note("hub.md"), *(note(f"n/{i}.md", links=["hub"]) for i in range(50))])
    asked: list[str] = []
    named = links.named

    def counted(connection: Connection, name: str) -> list[links.NameRow]:
        asked.append(name)
        return named(connection, name)

    monkeypatch.setattr(links, "named", counted)
    before = db.total_changes()
    assert resolver.resolve_again(db, ["hub"], ()) == 50
    assert asked == ["hub"]
    assert db.total_changes() == before


@pytest.mark.parametrize(
    ("change", "looked_at"),
    [
        (note("new.md"), 1),
        (note("a.md", aliases=["Wanted"]), 1),
        (note("a.md", title="Wanted"), 1),
        (note("a.md", title="a"), 0),
        (note("deep/wanted.md"), 1),
        (note("nobody asked.md"), 0),
    ],
)
def test_a_name_that_comes_is_followed_by_its_links(db: Connection, change: NoteRecord, looked_at: int) -> None:
    """New notes, aliases and titles."""
    fill(db, [note("x.md", links=["New", "Wanted", "y"]), note("y.md"), note("a.md")])
    assert resolver.resolve_again(db, notes.put(db, change).names - {"a"}, ()) == looked_at


def test_an_attachment_is_followed_by_the_links_under_its_name(db: Connection) -> None:
    """When it comes and when it goes; a new size is nothing to them."""
    fill(db, [note("x.md", links=["a.png", "b.png", "a"]), note("a.md")])
    held = "SELECT target, attachment FROM links WHERE attachment IS NOT NULL"
    keys = links.put_attachments(db, [("i/a.png", key("i/a.png"), 1), ("i/c.png", key("i/c.png"), 1)], ())
    assert resolver.resolve_again(db, keys, ()) == 1
    assert db.execute(held).fetchall() == [("a.png", "i/a.png")]
    assert links.put_attachments(db, [("i/a.png", key("i/a.png"), 2)], ()) == set()
    assert resolver.resolve_again(db, links.put_attachments(db, (), ["i/a.png", "i/never.png"]), ()) == 1
    assert db.execute(held).fetchall() == []


def test_second_readings_count_where_a_dialect_has_them(db: Connection) -> None:
    """``[[label|target]]`` follows its target in Dendron, and its label follows nothing elsewhere."""
    text = b"[[shown|a.b]]"
    record = note_record("x.md", text, 0, 1 << 20)
    resolver.resolve_again(db, (), [notes.put(db, record).note])
    names = notes.put(db, note("a.b.md")).names
    assert resolver.resolve_again(db, names, ()) == 0
    resolver.speak(db, DIALECTS["dendron"])
    assert resolver.resolve_again(db, names, ()) == 1
    assert db.execute("SELECT n.path FROM links k JOIN notes n ON n.id = k.resolved").fetchall() == [("a.b.md",)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM links WHERE key = 'a'",
        "SELECT * FROM links WHERE other_key = 'a'",
        "SELECT * FROM links WHERE source = 1",
        "SELECT * FROM links WHERE resolved = 1",
        "SELECT * FROM links WHERE attachment = 'a'",
        "SELECT * FROM attachments WHERE key = 'a'",
        "SELECT * FROM names WHERE key = 'a'",
    ],
)
def test_every_look_up_has_an_index(db: Connection, query: str) -> None:
    """No table is scanned for a link."""
    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}")]
    assert all("USING" in step and "SCAN" not in step for step in plan)


def test_a_name_that_every_folder_has_is_found_beside_the_link(db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a look-up: the distance of folders is measured once a link, not once a link and note."""
    measured: list[str] = []
    distance = candidates._distance

    def counted(one: str, other: str) -> int:
        measured.append(one)
        return distance(one, other)

    monkeypatch.setattr(candidates, "_distance", counted)
    fill(db, [note(f"{i}/{name}.md", links=["index"]) for i in range(100) for name in ("index", "other")])
    rows = db.execute(
        "SELECT count(*), sum(ambiguous) FROM links k JOIN notes s ON s.id = k.source "
        "JOIN notes n ON n.id = k.resolved "
        "WHERE substr(s.path, 1, instr(s.path, '/')) = substr(n.path, 1, instr(n.path, '/'))"
    ).fetchall()
    assert rows == [(200, 200)]
    assert measured == []
