"""Links and attachments in the index."""

from synapse_ls.links.names import key
from synapse_ls.store import links
from synapse_ls.store.database import Connection
from synapse_ls.store.links import NameRow, OpenLink, Stored
from tests.support.index import fill, note


def put(db: Connection, *files: tuple[str, int]) -> set[str]:
    """Write attachments by path and size."""
    return links.put_attachments(db, [(path, key(path), size) for path, size in files], ())


def test_attachments_are_kept_by_path(db: Connection) -> None:
    """The keys that gained or lost a meaning come back; a changed size is no change of meaning."""
    assert put(db, ("a/x.png", 1), ("b/x.png", 2), ("c.pdf", 3)) == {"x.png", "c.pdf"}
    assert put(db, ("c.pdf", 4)) == set()
    assert links.put_attachments(db, [("d.csv", "d.csv", 5)], ["a/x.png", "none"]) == {"x.png", "d.csv"}
    assert links.attachments(db) == {"b/x.png": 2, "c.pdf": 4, "d.csv": 5}


def test_attachments_of_a_folder(db: Connection) -> None:
    """Those below it, not those of a folder whose name starts alike."""
    put(db, ("a/x.png", 1), ("a/b/y.png", 2), ("a b/z.png", 3), ("ab.png", 4))
    assert list(links.attachments(db, "a")) == ["a/b/y.png", "a/x.png"]
    assert links.sizes(db, ["ab.png", "a/x.png", "none.png"]) == {"ab.png": 4, "a/x.png": 1}


def test_names_of_notes_and_attachments_share_their_keys(db: Connection) -> None:
    """By path."""
    ids = fill(db, [note("z/x.png.md")])
    put(db, ("a/x.png", 7))
    assert links.named(db, "x.png") == [
        NameRow("attachment", "a/x.png", None, "a/x.png", 7),
        NameRow("path", "z/x.png", ids["z/x.png.md"], "z/x.png.md"),
        NameRow("title", "x.png", ids["z/x.png.md"], "z/x.png.md"),
    ]


def test_a_meaning_is_recorded(db: Connection) -> None:
    """A note, a file, or neither; whether others fit as well."""
    fill(db, [note("a.md", links=["b"])])
    (link,) = links.every(db)
    assert link == OpenLink(link.id, link.source, "a.md", "wiki", "b", None, None, Stored())
    for meaning in (Stored(3, None, ambiguous=True), Stored(None, "x.png"), Stored()):
        links.resolve(db, [(meaning, link.id)])
        assert [found.stored for found in links.every(db)] == [meaning]


def test_names_like_another(db: Connection) -> None:
    """By their first letters and their length; attachments are no names of notes."""
    fill(db, [note("x/orphans.md"), note("orchard.md"), note("or.md"), note("parrots.md", aliases=["Origins"])])
    put(db, ("orphan.png", 1))
    found = links.named_like(db, "or", 7, 7, 9)
    assert [(key_, row.kind, row.path) for key_, row in found] == [
        ("orchard", "path", "orchard.md"), ("orchard", "title", "orchard.md"), ("origins", "alias", "parrots.md"),
        ("orphans", "path", "x/orphans.md"), ("orphans", "title", "x/orphans.md"),
    ]  # fmt: skip
    assert len(links.named_like(db, "or", 7, 7, 2)) == 2


def test_links_to_attachments_and_under_keys(db: Connection) -> None:
    """With what is written, by path; each once though both its keys are asked for."""
    fill(db, [note("b.md", links=["a"]), note("a.md", links=["b", "x.png"])])
    (image,) = [link for link in links.every(db) if link.target == "x.png"]
    links.resolve(db, [(Stored(None, "x.png"), image.id)])
    assert [(link.source_path, link.target) for link in links.to_attachment(db, "x.png")] == [("a.md", "x.png")]
    written = links.written(db, ["a", "b", "none"])
    assert [(link.source_path, link.target) for link in written] == [("a.md", "b"), ("b.md", "a")]
    assert links.keys_of(db, image.source) == {"a"}
