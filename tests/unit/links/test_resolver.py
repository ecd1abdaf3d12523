"""What a link means: seen from the linking note, by one rule for disk and buffers."""

import pytest

from synapse_ls.core.model import Link, LinkKind
from synapse_ls.core.text import Span
from synapse_ls.links.meaning import Ambiguous, AttachmentMeant, NoteMeant, Unresolved, certain
from synapse_ls.links.names import key
from synapse_ls.links.resolver import resolve, resolve_again
from synapse_ls.store import links, notes
from synapse_ls.store.database import Connection
from synapse_ls.store.links import Stored
from tests.support.index import fill, note

NFD = "Cafe\u0301"
VAULT = (
    note("index.md"),
    note("horses.md", title="All horses"),
    note("Riding horses.md"),
    note("Case.md"),
    note("x/case.md"),
    note("a/same.md"),
    note("a/deep/same.md"),
    note("b/same.md"),
    note("b/note.md", title="Config.md", aliases=["A/B testing", "Beta"]),
    note("c/beta.md"),
    note("d/other.md", title="Beta"),
    note("d/titled.md", title="Only A Title"),
    note("d/v1.2.md"),
    note("d/.net.md"),
    note("d/my note.md"),
    note("d/100%.md"),
    note(f"d/{NFD}.md"),
    note("d/dup1.md", aliases=["Dup"]),
    note("d/dup2.md", aliases=["Dup"]),
    note("e/..odd.md"),
)


def written(target: str, kind: str = "wiki") -> Link:
    """Return a link without fragment and label."""
    return Link(LinkKind(kind), target, None, None, Span(0, 0))


def path_of(db: Connection, source: str, link: Link) -> str | None:
    """Return the path of what a link means."""
    chosen = certain(resolve(db, source, link))
    return None if chosen is None else chosen.path


@pytest.mark.parametrize(
    ("source", "target", "path"),
    [
        ("index.md", "horses", "horses.md"),
        ("index.md", "Horses", "horses.md"),
        ("index.md", "horses.md", "horses.md"),
        ("index.md", " horses ", "horses.md"),
        ("index.md", "riding horses", "Riding horses.md"),
        ("index.md", "riding", None),
        ("x/y.md", "Case", "Case.md"),
        ("index.md", "case", "x/case.md"),
        ("x/y.md", "CASE", "x/case.md"),
        ("index.md", "same", "a/same.md"),
        ("b/x.md", "same", "b/same.md"),
        ("a/deep/x.md", "same", "a/deep/same.md"),
        ("b/x.md", "a/same", "a/same.md"),
        ("b/x.md", "deep/same", "a/deep/same.md"),
        ("b/x.md", "eep/same", None),
        ("b/x.md", "A/Same.md", "a/same.md"),
        ("b/x.md", "./same", "b/same.md"),
        ("b/x.md", "../a/same", "a/same.md"),
        ("b/x.md", "/a/deep/same", "a/deep/same.md"),
        ("index.md", "beta", "c/beta.md"),
        ("index.md", "A/B testing", "b/note.md"),
        ("index.md", "B testing", None),
        ("index.md", "only a title", "d/titled.md"),
        ("index.md", "Config.md", "b/note.md"),
        ("index.md", "v1.2", "d/v1.2.md"),
        ("index.md", "v1", None),
        ("index.md", ".net", "d/.net.md"),
        ("index.md", "my note", "d/my note.md"),
        ("index.md", "Café", f"d/{NFD}.md"),
        ("index.md", NFD, f"d/{NFD}.md"),
        ("index.md", "missing", None),
        ("elsewhere.md", "", None),
        ("index.md", "", "index.md"),
        ("index.md", "/", None),
        ("index.md", "..", None),
        ("index.md", "../../../../etc/passwd", None),
        ("index.md", "\ud800", None),
    ],
)
def test_a_wiki_link_is_a_name(db: Connection, source: str, target: str, path: str | None) -> None:
    """Whole names and path ends, then aliases, then titles; exact case first; the nearest folder of several."""
    fill(db, VAULT)
    assert path_of(db, source, written(target)) == path


@pytest.mark.parametrize(
    ("source", "target", "path"),
    [
        ("b/x.md", "same.md", "b/same.md"),
        ("b/x.md", "./same.md", "b/same.md"),
        ("b/x.md", "same", "b/same.md"),
        ("b/x.md", "SAME.md", "b/same.md"),
        ("b/x.md", "../a/deep/same.md", "a/deep/same.md"),
        ("b/x.md", "a/same.md", "a/same.md"),
        ("b/x.md", "/a/same.md", "a/same.md"),
        ("a/deep/x.md", "../same.md", "a/same.md"),
        ("a/deep/x.md", "../../b/./same.md", "b/same.md"),
        ("x/y.md", "case.md", "x/case.md"),
        ("x/y.md", "../Case.md", "Case.md"),
        ("d/x.md", "my note.md", "d/my note.md"),
        ("d/x.md", "100%.md", "d/100%.md"),
        ("d/x.md", ".net.md", "d/.net.md"),
        ("index.md", "../.net.md", "d/.net.md"),
        ("d/x.md", "v1.2.md", "d/v1.2.md"),
        ("d/x.md", "Café.md", f"d/{NFD}.md"),
        ("e/x.md", "..odd.md", "e/..odd.md"),
        ("index.md", "missing.md", None),
        ("index.md", "wrong/same.md", None),
        ("index.md", "../../..", None),
    ],
)
@pytest.mark.parametrize("kind", ["markdown", "reference"])
def test_a_markdown_link_is_a_path(db: Connection, kind: str, source: str, target: str, path: str | None) -> None:
    """Seen from the linking note, then from the root; the ending may be left out."""
    fill(db, VAULT)
    assert path_of(db, source, written(target, kind)) == path


def test_an_ambiguous_link_says_so(db: Connection) -> None:
    """The nearest is meant; the others are named, by path."""
    ids = fill(db, VAULT)
    assert resolve(db, "b/x.md", written("same")) == Ambiguous(
        NoteMeant(ids["b/same.md"], "b/same.md"), ("b/same.md", "a/deep/same.md", "a/same.md")
    )
    assert resolve(db, "index.md", written("Dup")) == Ambiguous(
        NoteMeant(ids["d/dup1.md"], "d/dup1.md"), ("d/dup1.md", "d/dup2.md")
    )
    assert resolve(db, "index.md", written("a/deep/same")) == NoteMeant(ids["a/deep/same.md"], "a/deep/same.md")
    assert resolve(db, "index.md", written("horses")) == NoteMeant(ids["horses.md"], "horses.md")
    assert resolve(db, "index.md", written("missing")) == Unresolved("missing")


ENDINGS = (
    note("topic.md"), note("topic.markdown.md"), note("note.md"), note("note.md.md"), note("old.markdown"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("topic", "topic.md"),
        ("topic.md", "topic.md"),
        ("topic.markdown", "topic.markdown.md"),
        ("topic.markdown.md", "topic.markdown.md"),
        ("note", "note.md"),
        ("note.md", "note.md"),
        ("note.md.md", "note.md.md"),
        ("NOTE.MD", "note.md"),
        ("old", "old.markdown"),
        ("old.markdown", "old.markdown"),
        ("old.md", None),
    ],
)
@pytest.mark.parametrize("kind", ["wiki", "markdown"])
def test_an_ending_may_belong_to_the_name(db: Connection, kind: str, target: str, path: str | None) -> None:
    """A file as written wins over a name; an ending is not dropped to find another file."""
    fill(db, ENDINGS)
    assert path_of(db, "x.md", written(target, kind)) == path


FILES = [
    (path, key(path), size)
    for size, path in enumerate(
        ["image.png", "a/image.png", "img/Plan.PDF", "data.tar.gz", "board.canvas", "d/v1.2", "topic.csv"]
    )
]


@pytest.mark.parametrize(
    ("kind", "source", "target", "path"),
    [
        ("wiki", "x.md", "image.png", "image.png"),
        ("embed", "a/x.md", "image.png", "a/image.png"),
        ("embed", "a/b/x.md", "../image.png", "a/image.png"),
        ("embed", "x.md", "a/image.png", "a/image.png"),
        ("embed", "x.md", "/a/image.png", "a/image.png"),
        ("embed", "a/x.md", "./IMAGE.png", "a/image.png"),
        ("embed", "x.md", "plan.pdf", "img/Plan.PDF"),
        ("markdown", "x.md", "img/Plan.PDF", "img/Plan.PDF"),
        ("markdown", "a/x.md", "../data.tar.gz", "data.tar.gz"),
        ("wiki", "x.md", "board.canvas", "board.canvas"),
        ("wiki", "x.md", "board", None),
        ("wiki", "x.md", "v1.2", "d/v1.2"),
        ("wiki", "x.md", "topic", "topic.md"),
        ("wiki", "x.md", "topic.csv", "topic.csv"),
        ("embed", "x.md", "none.png", None),
    ],
)
def test_an_attachment_is_meant_by_its_whole_name(
    db: Connection, kind: str, source: str, target: str, path: str | None
) -> None:
    """By name, end of path or path, with its ending; a note comes first."""
    fill(db, [note("topic.md")])
    links.put_attachments(db, FILES, ())
    assert path_of(db, source, written(target, kind)) == path


def test_an_attachment_has_a_size(db: Connection) -> None:
    """So that it can be shown without being read; one of several is the nearest."""
    links.put_attachments(db, FILES, ())
    assert resolve(db, "x.md", written("data.tar.gz")) == AttachmentMeant("data.tar.gz", 3)
    assert resolve(db, "x.md", written("image.png")) == Ambiguous(
        AttachmentMeant("image.png", 0), ("image.png", "a/image.png")
    )


def _meaning(db: Connection) -> dict[tuple[str, str], str | None]:
    """Return what every link is held to mean, as paths."""
    rows = db.execute(
        "SELECT s.path, k.target, t.path FROM links k JOIN notes s ON s.id = k.source "
        "LEFT JOIN notes t ON t.id = k.resolved"
    )
    return {(source, target): path for source, target, path in rows}


def test_a_new_note_gives_broken_links_a_meaning(db: Connection) -> None:
    """Its names say which links may mean it."""
    fill(db, [note("a.md", links=["New", "a"])])
    assert _meaning(db) == {("a.md", "New"): None, ("a.md", "a"): "a.md"}
    written = notes.put(db, note("folder/new.md"))
    assert resolve_again(db, written.names, ()) == 1
    assert _meaning(db) == {("a.md", "New"): "folder/new.md", ("a.md", "a"): "a.md"}


def test_a_deleted_note_leaves_its_links_to_the_next_best(db: Connection) -> None:
    """Or to none."""
    fill(db, [note("x.md", links=["Same", "Gone"]), note("same.md"), note("b/t.md", title="Same"), note("gone.md")])
    names = notes.delete(db, "same.md") | notes.delete(db, "gone.md")
    assert _meaning(db) == {("x.md", "Same"): None, ("x.md", "Gone"): None}
    resolve_again(db, names, ())
    assert _meaning(db) == {("x.md", "Same"): "b/t.md", ("x.md", "Gone"): None}


def test_a_renamed_note_loses_and_gains_links(db: Connection) -> None:
    """By its old name and by its new one; a retitled one in exact case wins."""
    fill(db, [note("x.md", links=["Old", "New"]), note("old.md")])
    names = notes.put(db, note("new.md")).names | notes.delete(db, "old.md")
    resolve_again(db, names, ())
    assert _meaning(db) == {("x.md", "Old"): None, ("x.md", "New"): "new.md"}


def test_case_alone_can_change_the_meaning(db: Connection) -> None:
    """A title whose case changed is looked at again."""
    fill(db, [note("x.md", links=["Topic"]), note("a.md", title="TOPIC"), note("b.md", title="topic")])
    assert _meaning(db) == {("x.md", "Topic"): "a.md"}
    resolve_again(db, notes.put(db, note("b.md", title="Topic")).names, ())
    assert _meaning(db) == {("x.md", "Topic"): "b.md"}


def test_only_links_that_could_mean_something_else_are_looked_at(db: Connection) -> None:
    """Those under the keys and those of the sources, each once."""
    ids = fill(db, [note("x.md", links=["One", "Two"]), note("y.md", links=["One", "Three"])])
    assert resolve_again(db, [], []) == 0
    assert resolve_again(db, [key("one")], []) == 2
    assert resolve_again(db, [key("One")], [ids["x.md"]]) == 3
    links.resolve(db, [(Stored(ids["x.md"]), link.id) for link in links.to_resolve(db, [key("three")], [])])
    resolve_again(db, [key("one"), key("two")], [])
    assert _meaning(db)["y.md", "Three"] == "x.md"


def test_neighbours_degrees_and_backlinks(db: Connection) -> None:
    """Each pair in each direction, a note's own links left out; every place counts as a backlink."""
    ids = fill(db, [note("a.md", links=["b", "b", "a", "none"]), note("b.md", links=["a"]), note("c.md", links=["b"])])
    a, b, c = ids["a.md"], ids["b.md"], ids["c.md"]
    assert links.neighbours(db, [a]) == [(a, b)]
    assert links.neighbours(db, [b, c]) == [(b, a), (b, c), (c, b)]
    assert links.degree(db, [b, c]) == {b: 4, c: 1}
    assert [link.source_path for link in links.backlinks(db, b)] == ["a.md", "a.md", "c.md"]
