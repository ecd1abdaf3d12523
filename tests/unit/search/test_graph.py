"""Notes one link away."""

from pathlib import Path

from synapse_ls.search.graph import distances, graph
from synapse_ls.store import notes as store_notes
from tests.support.index import note, reading

VAULT = (
    note("seed.md", "x", links=["near", "hub"]),
    note("second.md", "x", links=["near"]),
    note("near.md", "x"),
    note("hub.md", "x", links=["a", "b", "c"]),
    note("a.md", "x"),
    note("b.md", "x"),
    note("c.md", "x", links=["end"]),
    note("end.md", "x", links=["beyond"]),
    note("beyond.md", "x"),
)


def test_neighbours_by_seeds_and_degree(tmp_path: Path) -> None:
    """A note linked with two seeds comes before a hub linked with one."""
    with reading(tmp_path, VAULT) as db:
        ids = {row.path: row.id for row in store_notes.recent(db, 100)}
        names = {number: path for path, number in ids.items()}
        found = graph(db, [ids["seed.md"], ids["second.md"]], 10)
        only = graph(db, [ids["seed.md"]], 10, [ids["hub.md"]])
    assert [names[number] for number, _ in found] == ["near.md", "hub.md"]
    assert [names[number] for number, _ in only] == ["hub.md"]


def test_no_seeds_no_neighbours(tmp_path: Path) -> None:
    """Nothing to start from gives nothing."""
    with reading(tmp_path, VAULT) as db:
        assert graph(db, [], 10) == []


def test_distances_follow_links_both_ways(tmp_path: Path) -> None:
    """Links are counted in any direction, up to a reach."""
    with reading(tmp_path, VAULT) as db:
        ids = {row.path: row.id for row in store_notes.recent(db, 100)}
        names = {number: path for path, number in ids.items()}
        found = {names[number]: away for number, away in distances(db, ids["second.md"], 3).items()}
    assert found == {"second.md": 0, "near.md": 1, "seed.md": 2, "hub.md": 3}
