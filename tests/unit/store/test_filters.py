"""Which notes a search may look at."""

import json
from dataclasses import replace

import pytest

from synapse_ls.core.model import SearchFilter
from synapse_ls.store import filters, notes
from synapse_ls.store.database import Connection
from synapse_ls.store.records import NoteRecord
from tests.support.index import note


def _with(record: NoteRecord, **properties: object) -> NoteRecord:
    return replace(record, properties=json.dumps(properties))


VAULT = (
    _with(note("a.md", title="Alpha", mtime=100), status="Done", keywords=["one", "Two"], count=3, open=True),
    _with(note("work/b.md", title="Beta [draft]", aliases=["Second"], mtime=200), status=["done", "late"], none=None),
    note("work/deep/c.md", title="Gamma", tags=["Project/Alpha"], mtime=300),
    note("work2/d.md", title="Łódź", tags=["project"]),
    note("w*rk/e.md", title="100 %", tags=["projects"]),
    note("[x]/f.md", title="what? [1]", tags=["a*/b"]),
    note("q?/g.md", title="Star *"),
    note("Ünï/h.md", title="H"),
)


@pytest.mark.parametrize(
    ("wanted", "stems"),
    [
        (SearchFilter(folders=("work",)), "bc"),
        (SearchFilter(folders=("/work/",)), "bc"),
        (SearchFilter(folders=("work/deep",)), "c"),
        (SearchFilter(folders=("work/deep", "work2")), "cd"),
        (SearchFilter(folders=("w*rk",)), "e"),
        (SearchFilter(folders=("[x]",)), "f"),
        (SearchFilter(folders=("q?",)), "g"),
        (SearchFilter(folders=("Ünï",)), "h"),
        (SearchFilter(folders=("wor",)), ""),
        (SearchFilter(folders=("/",)), "abcdefgh"),
        (SearchFilter(exclude_folders=("work", "[x]", "q?")), "adeh"),
        (SearchFilter(folders=("work",), exclude_folders=("work/deep",)), "b"),
        (SearchFilter(tags=("project",)), "cd"),
        (SearchFilter(tags=("#PROJECT/",)), "cd"),
        (SearchFilter(tags=("project/alpha",)), "c"),
        (SearchFilter(tags=("a*",)), "f"),
        (SearchFilter(tags=("*",)), ""),
        (SearchFilter(tags=("project", "projects")), ""),
        (SearchFilter(properties=(("status", "done"),)), "ab"),
        (SearchFilter(properties=(("status", "late"), ("status", "DONE"))), "b"),
        (SearchFilter(properties=(("keywords", "two"),)), "a"),
        (SearchFilter(properties=(("count", "3"),)), "a"),
        (SearchFilter(properties=(("open", "true"),)), "a"),
        (SearchFilter(properties=(("none", "None"),)), ""),
        (SearchFilter(properties=(("missing", "x"),)), ""),
        (SearchFilter(modified_after=199.5), "bc"),
        (SearchFilter(modified_after=200.0), "c"),
        (SearchFilter(modified_after=float("inf")), ""),
        (SearchFilter(modified_after=float("nan")), ""),
        (SearchFilter(modified_after=-1e300), "abcdefgh"),
        (SearchFilter(titles=("lodz",)), "d"),
        (SearchFilter(titles=("second",)), "b"),
        (SearchFilter(titles=("[draft]",)), "b"),
        (SearchFilter(titles=("*",)), "g"),
        (SearchFilter(titles=("?",)), "f"),
        (SearchFilter(titles=("alpha", "beta")), ""),
        (SearchFilter(folders=("work",), properties=(("status", "done"),)), "b"),
    ],
)
def test_a_filter_leaves_these_notes(db: Connection, wanted: SearchFilter, stems: str) -> None:
    """Signs in folders, tags and titles are literal; tags include those below them; several conditions all hold."""
    name_of = {notes.put(db, record).note: record.path[-4] for record in VAULT}
    assert "".join(name_of[number] for number in filters.notes(db, wanted) or []) == stems


MANY = [f"x{i}" for i in range(40_000)]


@pytest.mark.parametrize(
    ("wanted", "stems"),
    [
        (SearchFilter(folders=(*MANY, "work")), "bc"),
        (SearchFilter(exclude_folders=(*MANY, "work")), "adefgh"),
        (SearchFilter(tags=tuple(MANY)), ""),
        (SearchFilter(tags=("project",) * 40_000), "cd"),
        (SearchFilter(titles=tuple(MANY)), ""),
        (SearchFilter(titles=("lodz",) * 40_000), "d"),
        (SearchFilter(titles=("x" * 200_000,)), ""),
        (SearchFilter(properties=(("status", "done"),) * 40_000), "ab"),
        (SearchFilter(folders=("\ud800",)), ""),
        (SearchFilter(exclude_folders=("\udfff",)), "abcdefgh"),
        (SearchFilter(tags=("\ud800",)), ""),
        (SearchFilter(titles=("\ud800",)), ""),
        (SearchFilter(properties=(("\ud800", "\ud800"),)), ""),
    ],
)
def test_any_number_of_conditions_and_any_text(db: Connection, wanted: SearchFilter, stems: str) -> None:
    """Nothing a client asks for is too much, and half a surrogate pair only fits nothing."""
    name_of = {notes.put(db, record).note: record.path[-4] for record in VAULT}
    assert "".join(name_of[number] for number in filters.notes(db, wanted) or []) == stems


def test_no_filter_leaves_all(db: Connection) -> None:
    """Said as None, without a list of everything."""
    assert filters.notes(db, SearchFilter()) is None
