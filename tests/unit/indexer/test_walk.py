"""Which files belong to a vault."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synapse_ls.core.config import IndexSettings
from synapse_ls.indexer import walk
from synapse_ls.indexer.walk import belongs
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
    scan = walk.walk(root, PLAIN, "out")
    assert (scan.folders, scan.notes, scan.left_out) == ([], [], {"out"})


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


@pytest.mark.parametrize("kind", ["folder", "note", "attachment"])
def test_what_goes_while_it_is_walked_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """It is no trouble, and nothing to keep."""
    write(tmp_path, {"a.md": "", "sub/b.md": "", "sub/c.png": "", "sub/deep/d.md": ""})
    target = tmp_path / {"folder": "sub/deep", "note": "sub/b.md", "attachment": "sub/c.png"}[kind]
    scandir = os.scandir

    def listed_before(path: Path) -> object:
        if Path(path).name != "sub":
            return scandir(path)
        with scandir(path) as opened:
            entries = list(opened)
        target.rename(tmp_path.parent / f"{tmp_path.name}-gone")
        return nullcontext(iter(entries))

    monkeypatch.setattr(os, "scandir", listed_before)
    scan = walk.walk(tmp_path, PLAIN)
    assert scan.unreadable == {}
    assert len([*scan.notes, *scan.attachments]) == 3


def test_folder_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    """Nor does one that became a file."""
    write(tmp_path, {"a.md": "", "file": ""})
    for under in ("gone", "gone/deep", "file", "file/deep"):
        scan = walk.walk(tmp_path, PLAIN, under)
        assert (scan.folders, scan.notes, scan.unreadable) == ([], [], {})


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN])
@pytest.mark.parametrize("under", ["", "away"])
def test_folder_that_fails_while_it_is_listed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, under: str, number: int
) -> None:
    """Half of a folder is not taken for all of it."""
    write(tmp_path, {"a.md": "", "away/b.md": "", "away/c.md": ""})
    scandir = os.scandir

    def half(path: Path) -> Iterator["os.DirEntry[str]"]:
        with scandir(path) as entries:
            yield next(entries)
        raise OSError(number, os.strerror(number))

    def failing(path: Path) -> object:
        return nullcontext(half(path)) if Path(path).name == "away" else scandir(path)

    monkeypatch.setattr(os, "scandir", failing)
    scan = walk.walk(tmp_path, PLAIN, under)
    assert [note.path for note in scan.notes] == ([] if under else ["a.md"])
    assert scan.unreadable == {"away": f"folder cannot be read ({os.strerror(number)})"}


class _Silent:
    """An entry of a file system that tells the kinds of entries only when asked for each, and then fails."""

    def __init__(self, name: str) -> None:
        self.name = name

    def is_symlink(self) -> bool:
        """Fail."""
        raise OSError(errno.EIO, "Input/output error")


def test_entry_whose_kind_cannot_be_told_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be a note or a folder of notes; the others are walked."""
    write(tmp_path, {"a.md": "", "sub/b.md": ""})
    scandir = os.scandir

    def listed(path: Path) -> object:
        if Path(path).name != "sub":
            return scandir(path)
        with scandir(path) as opened:
            return nullcontext(iter([_Silent("c.md"), *opened]))

    monkeypatch.setattr(os, "scandir", listed)
    scan = walk.walk(tmp_path, PLAIN)
    assert [note.path for note in scan.notes] == ["a.md", "sub/b.md"]
    assert scan.unreadable == {"sub/c.md": "cannot be read (Input/output error)"}


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    """Let files of a name fail when they are opened."""
    opened = Path.open

    def fails(path: Path, *options: Any) -> object:  # noqa: ANN401 - as they come
        if path.name == name:
            raise OSError(number, os.strerror(number))
        return opened(path, *options)

    monkeypatch.setattr(Path, "open", fails)


def test_ignore_file_that_fails_for_now_lets_nothing_slip_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it leaves out would be searchable for a moment: its folder is unreadable."""
    write(tmp_path, {"a.md": "", "sub/private.md": "", "sub/.gitignore": "private.md"})
    refuse(monkeypatch, ".gitignore", errno.EIO)
    scan = walk.walk(tmp_path, PLAIN)
    assert [note.path for note in scan.notes] == ["a.md"]
    assert scan.unreadable == {"sub": "folder cannot be read (Input/output error)"}


@pytest.mark.parametrize("under", ["", "sub"])
def test_rules_of_the_root_that_fail_for_now_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, under: str
) -> None:
    """They hold for all."""
    write(tmp_path, {"sub/private.md": "", ".gitignore": "private.md"})
    refuse(monkeypatch, ".gitignore", errno.ESTALE)
    with pytest.raises(OSError, match="Stale file handle"):
        walk.walk(tmp_path, PLAIN, under)


def test_ignore_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rules are not followed: that will not change by waiting."""
    write(tmp_path, {"a.md": "", "sub/b.md": "", "sub/.ignore": "*"})
    refuse(monkeypatch, ".ignore", errno.EACCES)
    scan = walk.walk(tmp_path, PLAIN)
    assert [note.path for note in scan.notes] == ["a.md", "sub/b.md"]
    assert scan.unreadable == {"sub/.ignore": "cannot be read (Permission denied); its rules are not followed"}


def test_rules_that_are_not_followed_are_named(tmp_path: Path) -> None:
    """A walk of a folder names those of its own."""
    write(tmp_path, {"a.md": "", ".gitignore": "x" * 2_000, "sub/b.md": "", "sub/.ignore": "y" * 2_000 + "\nb.md"})
    said = "a rule of more than 1,024 characters is not followed; split it into shorter ones"
    assert walk.walk(tmp_path, PLAIN).unreadable == {".gitignore": said, "sub/.ignore": said}
    assert walk.walk(tmp_path, PLAIN, "sub").unreadable == {"sub/.ignore": said}
    assert found(tmp_path) == ["a.md"]


def test_ignore_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    """Its first rule is not called otherwise."""
    write(tmp_path, {".gitignore": b"\xef\xbb\xbfa.md\n", "a.md": "", "b.md": ""})
    assert found(tmp_path) == ["b.md"]


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
