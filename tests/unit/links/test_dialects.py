"""Which dialect a vault speaks."""

from pathlib import Path

import pytest

from synapse_ls.indexer.record import note_record
from synapse_ls.links import dialects, resolver
from synapse_ls.links.dialects import DIALECTS
from synapse_ls.store import notes
from synapse_ls.store.database import Connection
from tests.support.index import fill, note


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([".obsidian/app.json"], "obsidian"),
        (["dendron.yml"], "dendron"),
        (["logseq/config.edn"], "logseq"),
        ([".zk/config.toml"], "zk"),
        ([".foam/templates/x.md"], "foam"),
        ([".vscode/extensions.json"], "foam"),
        ([".obsidian/app.json", "dendron.yml"], "dendron"),
        ([".obsidian/app.json", ".vscode/extensions.json"], "obsidian"),
        (["notes.md", "logseq.md"], "markdown"),
        ([], "markdown"),
    ],
)
def test_marker_files_tell(db: Connection, tmp_path: Path, files: list[str], expected: str) -> None:
    """The more particular ones first; without any, plain Markdown."""
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text('{"recommendations": ["foam.foam-vscode"]}')
    assert dialects.choose(db, tmp_path, "auto").name == expected


def test_a_setting_wins(db: Connection, tmp_path: Path) -> None:
    """Over any marker file; a vault that is not there is no error."""
    (tmp_path / ".obsidian").mkdir()
    assert dialects.choose(db, tmp_path, "zk").name == "zk"
    assert dialects.choose(db, tmp_path / "gone", "auto").name == "markdown"


def test_settings_for_other_editors_say_nothing(db: Connection, tmp_path: Path) -> None:
    """Only the extension's name makes a folder of settings a marker; a folder in its place is passed over."""
    (tmp_path / ".vscode" / "settings.json").mkdir(parents=True)
    (tmp_path / ".vscode" / "extensions.json").write_text('{"recommendations": ["foamy.thing"]}')
    assert dialects.choose(db, tmp_path, "auto").name == "markdown"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.b.md": "", "x.md": "[[l|a.b]] [[m|a.b]] [[n|a.b]]"}, "dendron"),
        ({"a.md": "", "x.md": "[[a|l]] [[a|m]] [[a|n]]"}, "markdown"),
        ({"a.md": "", "x.md": "[[l|a]] [[m|a]]"}, "markdown"),
        ({"a.md": "", "x.md": "[[l|a]] [[m|a]] [[n|a]] [[a|l]] [[a|m]] [[a|n]]"}, "mixed"),
        ({"pages/a.md": "", "journals/2024_01_01.md": ""}, "logseq"),
        ({"pages/a.md": "", "journals/first day.md": ""}, "markdown"),
        ({"202401010000 a.md": "", "x.md": "[[202401010000]] [[202401010000]] [[202401010000]]"}, "zk"),
        ({"202401010000.md": "", "x.md": "[[202401010000]] [[202401010000]] [[202401010000]]"}, "markdown"),
    ],
)
def test_else_what_resolves_tells(db: Connection, tmp_path: Path, files: dict[str, str], expected: str) -> None:
    """The side of the bar that names notes, the folders of Logseq, ids; a few links decide nothing."""
    for path, text in files.items():
        notes.put(db, note_record(path, text.encode(), 0, 1 << 20))
    assert dialects.choose(db, tmp_path, "auto").name == expected


def test_another_dialect_resolves_all_links_again(db: Connection) -> None:
    """Once, not when it is the one that is spoken."""
    fill(db, [note("a.md", links=["b", "c"]), note("b.md")])
    assert resolver.spoken(db) == dialects.DEFAULT
    assert [resolver.speak(db, DIALECTS[name]) for name in ("zk", "zk", "logseq")] == [2, 0, 2]
    assert resolver.spoken(db).name == "logseq"
