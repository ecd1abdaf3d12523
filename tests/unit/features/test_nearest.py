"""Names nearest to one that no note has."""

from pathlib import Path

import pytest

from synapse_ls.core.model import LegState, SearchAnswer, SearchRequest
from synapse_ls.features.nearest import nearest
from tests.support.links import looking

TEXTS = {
    "x/orphans.md": "# Graph\n",
    "Orphanage.md": "",
    "trip.md": "---\naliases: [Summer holiday]\n---\n",
    "2026-03-10.md": "",
    "Incident 2026-02-11.md": "",
    "s/Schedule.md": "",
    "cat.md": "",
}


def nothing(_request: SearchRequest) -> SearchAnswer:
    """Find nothing."""
    return SearchAnswer(1, (), LegState("ok"), LegState("off"), LegState("off"), 0.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("orphnas", ["orphans"]),
        ("Orphan", ["orphans", "Orphanage"]),
        ("folder/orphnas.md", ["orphans"]),
        ("Sumer holdiay", ["Summer holiday"]),
        ("Incidnet 2026-02-11", ["Incident 2026-02-11"]),
        ("Shcedulee", ["Schedule"]),
        ("2026-03-11", []),
        ("cot", []),
        ("🐈🐈🐈🐈", []),
        ("\ud800rphans", []),
    ],
)
def test_misspelt_names(tmp_path: Path, name: str, expected: list[str]) -> None:
    """Names, file names and aliases with few letters typed otherwise; another number is another name."""
    with looking(tmp_path, TEXTS) as now:
        assert [symbol.name for symbol in nearest(now, name, nothing)] == expected


def test_at_most_so_many_and_each_note_once(tmp_path: Path) -> None:
    """The nearest first, then by name."""
    texts = {f"note {letter}.md": "---\ntitle: Note\n---\n" for letter in "abcdef"} | {"noteworthy.md": ""}
    with looking(tmp_path, texts) as now:
        assert [symbol.path for symbol in nearest(now, "notr", nothing, 2)] == ["note a.md", "note b.md"]
