"""Which files belong to a vault."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synapse_ls.core.config import IndexSettings
from synapse_ls.indexer import walk
from synapse_ls.indexer.walk import Scan, belongs
from tests.support.indexing import write

PLAIN = IndexSettings()


def found(root: Path, index: IndexSettings = PLAIN, under: str = "") -> list[str]:
    """Return the paths of the notes that a walk finds."""
    return [note.path for note in walk.walk(root, index, under).notes]


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ({".obsidian/x.md": "", ".hidden.md": "", "a/.git/y.md": "", "a/z.md": ""}, ["a/z.md"]),
        ({"node_modules/p/README.md": "", "a/node_modules/b.md": "", "c.md": ""}, ["c.md"]),
        ({"a.MD": "", "b.Markdown": "", "c.mdx": "", "d.md.txt": "", "md": "", "e.md": ""},
         ["a.MD", "b.Markdown", "e.md"]),
        ({".gitignore": "*.md\n!keep.md\n", "keep.md": "", "drop.md": ""}, ["keep.md"]),
        ({".gitignore": "drafts/\n", "drafts/a.md": "", "sub/drafts/b.md": "", "c.md": ""}, ["c.md"]),
        ({".gitignore": "/top.md\n", "top.md": "", "sub/top.md": ""}, ["sub/top.md"]),
        ({".ignore": "a.md\n", "sub/.ignore": "!a.md\n", "a.md": "", "sub/a.md": ""}, ["sub/a.md"]),
        ({".gitignore": "a.md\n", ".ignore": "!a.md\n", "a.md": ""}, ["a.md"]),
        ({".gitignore": "sub/\n", "sub/.gitignore": "!a.md\n", "sub/a.md": ""}, []),
        ({"sub/.gitignore": "*.md\n", "sub/a.md": "", "b.md": ""}, ["b.md"]),
        ({".gitignore": "a.md\r\n# b.md\r\n\r\n", "a.md": "", "b.md": ""}, ["b.md"]),
        ({".gitignore": "!\nb.md\n[z-a]\nc\\\n[[x].md\n", "a.md": "", "b.md": ""}, ["a.md"]),
        ({".gitignore/x.md": "", "a.md": ""}, ["a.md"]),
    ],
)  # fmt: skip
def test_what_is_left_out(tmp_path: Path, files: dict[str, str], kept: list[str]) -> None:
    """Dot folders, packages, other files, and whatever the nearest ignore file that speaks of a path leaves out."""
    write(tmp_path, files)
    assert found(tmp_path) == kept
    assert [path for path in sorted(files) if belongs(tmp_path, path, PLAIN)] == kept


@pytest.mark.parametrize(
    ("index", "kept"),
    [
        (IndexSettings(exclude=("private/**", "*.tmp.md")), ["a.md", "sub/a.md"]),
        (IndexSettings(exclude=("private/",)), ["a.md", "b.tmp.md", "sub/a.md"]),
        (IndexSettings(exclude=("sub/a.md", "!", "[z-a]")), ["a.md", "b.tmp.md", "private/c.md"]),
        (IndexSettings(extensions=(".txt",)), ["d.txt"]),
    ],
)
def test_settings_leave_out_and_take_in(tmp_path: Path, index: IndexSettings, kept: list[str]) -> None:
    """``index.exclude`` holds globs as in an ignore file; ``index.extensions`` says what a note is called."""
    files = dict.fromkeys(["a.md", "b.tmp.md", "private/c.md", "sub/a.md", "d.txt"], "")
    write(tmp_path, files)
    assert found(tmp_path, index) == kept
    assert [path for path in sorted(files) if belongs(tmp_path, path, index)] == kept


def test_notes_come_in_the_order_of_names_with_their_stamps(tmp_path: Path) -> None:
    """Files of a folder first, then its folders; sizes and times are the files' own."""
    write(tmp_path, {"b.md": "12", "a/x.md": "123", "c.md": ""})
    os.utime(tmp_path / "b.md", ns=(7, 7_000))
    scan = walk.walk(tmp_path, PLAIN)
    assert [(note.path, note.size) for note in scan.notes] == [("b.md", 2), ("c.md", 0), ("a/x.md", 3)]
    assert scan.notes[0].mtime_ns == 7_000
    assert scan.folders == ["", "a"]


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    """Neither loops nor ways out: each real file once, nothing from outside."""
    root = tmp_path / "vault"
    write(root, {"a/n.md": "", "b/m.md": ""})
    write(tmp_path, {"outside/secret.md": ""})
    (root / "a/x").symlink_to(root / "b")
    (root / "b/y").symlink_to(root / "a")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "secret.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "dangling.md").symlink_to("nowhere.md")
    assert found(root) == ["a/n.md", "b/m.md"]
    for path in ("a/x/m.md", "out/secret.md", "secret.md", "dangling.md"):
        assert not belongs(root, path, PLAIN)
    assert walk.walk(root, PLAIN, "out") == Scan()


def test_pipe_is_neither_a_note_nor_a_rule(tmp_path: Path) -> None:
    """What would be waited for is not opened."""
    write(tmp_path, {"a.md": ""})
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / ".gitignore")
    assert found(tmp_path) == ["a.md"]


def test_unreadable_folder_is_named_and_the_rest_is_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is met on the way or asked for itself."""
    write(tmp_path, {"open/a.md": "", "shut/b.md": ""})
    scandir = os.scandir

    def closed(path: Path) -> "os._ScandirIterator[str]":
        if Path(path).name == "shut":
            raise PermissionError(13, "Permission denied")
        return scandir(str(path))

    monkeypatch.setattr(os, "scandir", closed)
    scan = walk.walk(tmp_path, PLAIN)
    assert [note.path for note in scan.notes] == ["open/a.md"]
    assert scan.unreadable == {"shut": "folder cannot be read (Permission denied)"}
    assert walk.walk(tmp_path, PLAIN, "shut").unreadable == scan.unreadable


def test_root_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    """An empty answer would empty the index."""
    with pytest.raises(OSError, match="No such file"):
        walk.walk(tmp_path / "none", PLAIN)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets names be any bytes")
def test_name_that_is_no_text_is_named(tmp_path: Path) -> None:
    """Such a note cannot be called by any client."""
    (tmp_path / os.fsdecode(b"caf\xe9.md")).touch()
    scan = walk.walk(tmp_path, PLAIN)
    assert scan.notes == []
    assert scan.unreadable == {"caf\ufffd.md": "the name is not valid UTF-8; rename it to have it indexed"}


@pytest.mark.parametrize("under", ["skip", "skip/deep", ".dot", "a/node_modules/x", "none"])
def test_folder_inside_an_ignored_one_holds_nothing(tmp_path: Path, under: str) -> None:
    """The rules above a folder hold in it."""
    write(tmp_path, {".ignore": "skip/\n", "skip/deep/a.md": "", ".dot/b.md": "", "a/node_modules/x/c.md": ""})
    assert found(tmp_path, under=under) == []


def test_subfolder_is_walked_by_the_rules_above_it(tmp_path: Path) -> None:
    """Paths stay relative to the vault."""
    write(tmp_path, {".ignore": "b.md\n", "s/.ignore": "!b.md\nc.md\n", "s/t/a.md": "", "s/t/b.md": "", "s/t/c.md": ""})
    assert found(tmp_path, under="s/t") == ["s/t/a.md", "s/t/b.md"]


def test_walk_can_be_cancelled(tmp_path: Path) -> None:
    """It is asked before every folder."""
    write(tmp_path, {f"d{number}/a.md": "" for number in range(10)})
    answers = iter([False, False, False, True])
    scan = walk.walk(tmp_path, PLAIN, cancelled=lambda: next(answers))
    assert scan.folders == ["", "d0", "d1"]


NAMES = st.sampled_from(["a", "b", "A", "deep", ".dot", "node_modules", "ä b", "x.md"])
FILES = st.sampled_from(["n.md", "m.MD", "k.markdown", "t.txt", ".h.md", "ä.md"])
RULES = st.lists(
    st.sampled_from(
        ["a", "a/", "/a", "b/", "*.md", "!n.md", "!a/", "**/deep", "deep/**", "a/*", "/b/*.md", "!*.MD", "n.*", "#x",
         "", "!", "ä*", "**", "!**/n.md", "a/**/n.md", "x.md", "x.md/"]
    ),
    max_size=4,
)  # fmt: skip


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_belongs_agrees_with_walk(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """A file that is told of belongs to the vault if and only if a walk would find it, from wherever it starts."""
    root = tmp_path_factory.mktemp("tree")
    folders = data.draw(st.lists(st.lists(NAMES, max_size=3).map("/".join), max_size=6, unique=True))
    for folder in ["", *folders]:
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name in data.draw(st.lists(FILES, max_size=3, unique=True)):
            (root / folder / name).touch()
        for name, rules in (
            (".gitignore", data.draw(st.one_of(st.just([]), RULES))),
            (".ignore", data.draw(st.one_of(st.just([]), RULES))),
        ):
            if rules and not (root / folder / name).exists():
                (root / folder / name).write_text("\n".join(rules))
    index = IndexSettings(exclude=tuple(rule for rule in data.draw(RULES) if rule))
    files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    whole = found(root, index)
    assert sorted(whole) == [path for path in files if belongs(root, path, index)]
    for folder in folders:
        below = [path for path in whole if path.startswith(f"{folder}/")] if folder else whole
        assert sorted(found(root, index, folder)) == sorted(below)


def test_what_the_user_excluded_no_rule_of_the_vault_brings_back(tmp_path: Path) -> None:
    """A ``!rule`` of an ignore file undoes other rules of ignore files, not the setting."""
    write(tmp_path, {"diary/a.md": "a", "notes/b.md": "b", ".gitignore": "!diary/\n!*.md\n"})
    found = walk.walk(tmp_path, IndexSettings(exclude=("diary/",)))
    assert [note.path for note in found.notes] == ["notes/b.md"]


def test_what_is_no_note_is_an_attachment(tmp_path: Path) -> None:
    """With its size, by the rules that hold for notes; symbolic links and hidden files are none."""
    write(tmp_path, {"a.md": "", "b.png": "123", "sub/c.PDF": "", ".x.png": "", "node_modules/d.png": "", "LICENSE": "",
                     "e.tmp": "", ".gitignore": "*.tmp\n", ".obsidian/app.json": ""})  # fmt: skip
    (tmp_path / "link.png").symlink_to(tmp_path / "b.png")
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if not path.is_dir())
    scan = walk.walk(tmp_path, PLAIN)
    assert [(file.path, file.size) for file in scan.attachments] == [("LICENSE", 0), ("b.png", 3), ("sub/c.PDF", 0)]
    told = [walk.attachment(tmp_path, path, PLAIN) for path in [*files, "gone.png", "sub", "../x.png", "/b.png", "f\0"]]
    assert [file for file in told if file] == scan.attachments
