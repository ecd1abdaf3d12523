"""Folders that are away, not gone."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from synapse_ls.core.config import IndexSettings
from synapse_ls.indexer import absence, walk
from synapse_ls.indexer.absence import Places, away, away_now, from_text, remember, to_text
from synapse_ls.indexer.walk import Found, Identity, Scan
from tests.support.indexing import write

HOME, OTHER, MOUNT = (1, 10), (2, 20), (3, 30)
Mount = Callable[[Path], None]


def scan(*notes: str, under: str = "", root: Identity = HOME, bare: bool = False, **mounts: Identity) -> Scan:
    """Return what a walk that found these notes and mounted folders would have seen."""
    return Scan(under, root, bare, dict(mounts), notes=[Found(path, 1, 1) for path in notes])


BEFORE = Places(HOME, {"m": MOUNT})


@pytest.mark.parametrize(
    ("remembered", "seen", "known", "expected"),
    [
        pytest.param(None, scan(bare=True), ["a.md"], set(), id="an index that remembers nothing"),
        pytest.param(BEFORE, scan("a.md", "m/b.md", m=MOUNT), ["a.md", "m/b.md"], set(), id="all as it was"),
        pytest.param(BEFORE, scan("a.md"), ["a.md", "m/b.md"], {"m"}, id="the mounted folder is missing or plain"),
        pytest.param(BEFORE, scan("a.md", m=OTHER), ["m/b.md"], set(), id="another thing is mounted and empty"),
        pytest.param(BEFORE, scan("m/new.md"), ["m/b.md"], {"m"}, id="written into the empty place"),
        pytest.param(BEFORE, scan("m/b.md"), ["m/b.md", "m/c.md"], set(), id="copied to where it was mounted"),
        pytest.param(BEFORE, scan("n/b.md", n=MOUNT), ["m/b.md"], set(), id="mounted elsewhere"),
        pytest.param(BEFORE, scan(under="x"), ["x/a.md"], set(), id="a walk of another folder"),
        pytest.param(BEFORE, scan(under="m"), ["m/b.md"], {"m"}, id="a walk of the mounted folder"),
        pytest.param(BEFORE, scan(under="m/deep"), ["m/deep/b.md"], {"m"}, id="a walk inside of it"),
        pytest.param(BEFORE, scan(under="m/deep", m=MOUNT), ["m/deep/b.md"], set(), id="a folder in it was deleted"),
        pytest.param(BEFORE, scan(under="mm"), ["mm/b.md"], set(), id="a walk of another folder called alike"),
        pytest.param(BEFORE, scan(root=OTHER, bare=True), ["a.md"], {""}, id="the vault is another folder, and empty"),
        pytest.param(BEFORE, scan(root=OTHER, bare=True, under="x"), ["x/a.md"], {""}, id="found out by a small walk"),
        pytest.param(BEFORE, scan(root=OTHER, bare=True), [], set(), id="there is nothing to keep"),
        pytest.param(Places(HOME), scan(bare=True), ["a.md"], set(), id="all notes of a vault were deleted"),
        pytest.param(Places(HOME), scan(root=OTHER), ["a.md"], set(), id="another vault in its place"),
    ],
)
def test_what_is_away(remembered: Places | None, seen: Scan, known: list[str], expected: set[str]) -> None:
    """Not what was deleted, and not what is merely elsewhere."""
    assert away(remembered, seen, known) == expected


@pytest.mark.parametrize("how", ["left out", "inside what is left out", "unreadable"])
def test_what_is_left_out_or_unreadable_is_not_away(how: str) -> None:
    """The one leaves the index, the other is named for what it is and stays remembered."""
    remembered = Places(HOME, {"x/m": MOUNT})
    seen = scan("a.md")
    if how == "unreadable":
        seen.unreadable["x/m"] = "folder cannot be read (Stale file handle)"
    else:
        seen.left_out.add("x/m" if how == "left out" else "x")
    assert away(remembered, seen, ["x/m/b.md"]) == frozenset()
    assert remember(remembered, seen, ()) == Places(HOME, {"x/m": MOUNT} if how == "unreadable" else {})


def test_what_is_remembered_after_a_walk() -> None:
    """What it saw, what lies elsewhere, and what is away."""
    before = Places(OTHER, {"m": MOUNT, "x/gone": MOUNT, "x/away": MOUNT, "x/there": OTHER})
    seen = Scan("x", HOME, mounts={"x/there": MOUNT, "x/new": MOUNT})
    assert remember(before, seen, {"x/away"}) == Places(
        HOME, {"m": MOUNT, "x/away": MOUNT, "x/new": MOUNT, "x/there": MOUNT}
    )
    assert remember(None, scan(m=MOUNT), ()) == BEFORE


def test_places_are_kept_as_text() -> None:
    """A text that is none of ours is as good as none."""
    assert from_text(to_text(BEFORE)) == BEFORE
    for text in (None, "", "[]", "{}", "null", '{"root": [1], "mounts": {}}', '{"root": [1, 2], "mounts": [3]}', "{"):
        assert from_text(text) is None


def test_vault_that_is_away_is_told_in_one_sentence(tmp_path: Path) -> None:
    """With what to do."""
    assert absence.sentence(tmp_path) == (
        f"the vault {tmp_path} is empty and not the folder that it was, as when it is not mounted; its index is kept. "
        f"Mount it, or run `synapse-ls forget {tmp_path}` if its notes are really gone"
    )
    assert absence.sentence(tmp_path / "v") == f"the vault {tmp_path / 'v'} is not there; its index is kept"


@pytest.fixture
def mount() -> Iterator[Mount]:
    """Give a way to mount a new file system, and unmount what is left of them."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting takes Linux and root")
    mounted: list[Path] = []

    def made(place: Path) -> None:
        done = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], capture_output=True, check=False)
        if done.returncode:
            pytest.skip("mounting is not allowed here")
        mounted.append(place)

    yield made
    for place in reversed(mounted):
        subprocess.run(["umount", "-l", place], capture_output=True, check=False)


def unmount(place: Path) -> None:
    """Take a file system away."""
    subprocess.run(["umount", place], check=True)


def looked(root: Path, under: str = "") -> Scan:
    """Return what a walk sees."""
    return walk.walk(root, IndexSettings(), under)


def test_folder_that_was_mounted_in_the_vault_is_away(tmp_path: Path, mount: Mount) -> None:
    """Whether its place is still there or not; and it comes back."""
    root = tmp_path / "vault"
    write(root, {"a.md": ""})
    (root / "sub/drive").mkdir(parents=True)
    mount(root / "sub/drive")
    write(root, {"sub/drive/b.md": "", "sub/drive/deep/c.md": ""})
    seen = looked(root)
    remembered = remember(None, seen, ())
    known = [note.path for note in seen.notes]
    assert list(seen.mounts) == ["sub/drive"]
    assert looked(root, "sub/drive").mounts == looked(root, "sub").mounts == seen.mounts
    assert looked(root, "sub/drive/deep").mounts == seen.mounts
    assert away(remembered, seen, known) == away_now(root, remembered) == frozenset()
    unmount(root / "sub/drive")
    for under in ("", "sub", "sub/drive", "sub/drive/deep"):
        assert away(remembered, looked(root, under), known) == {"sub/drive"}
    assert away_now(root, remembered) == {"sub/drive"}
    (root / "sub/drive").rmdir()
    (root / "sub").rmdir()
    for under in ("", "sub", "sub/drive", "sub/drive/deep"):
        assert away(remembered, looked(root, under), known) == {"sub/drive"}
    assert away_now(root, remembered) == {"sub/drive"}
    assert remember(remembered, looked(root), {"sub/drive"}) == remembered
    (root / "sub/drive").mkdir(parents=True)
    mount(root / "sub/drive")
    assert away(remembered, looked(root), known) == away_now(root, remembered) == frozenset()


def test_vault_that_was_mounted_is_away(tmp_path: Path, mount: Mount) -> None:
    """An empty place to mount is not the vault with all notes deleted."""
    root = tmp_path / "vault"
    root.mkdir()
    mount(root)
    write(root, {"a.md": "", "b/c.md": ""})
    seen = looked(root)
    assert seen.mounts == {}, "the vault is not a folder in the vault"
    remembered = remember(None, seen, ())
    unmount(root)
    assert away(remembered, looked(root), ["a.md", "b/c.md"]) == {""}
    assert away(remembered, looked(root, "b"), ["b/c.md"]) == {""}
    assert away_now(root, remembered) == {""}
    root.rmdir()
    assert away_now(root, remembered) == away_now(root, None) == {""}
    for under in ("", "b"):
        with pytest.raises(FileNotFoundError):
            looked(root, under)


def test_vault_whose_notes_were_all_deleted_is_empty(tmp_path: Path) -> None:
    """It is the folder that it was."""
    write(tmp_path, {"a.md": ""})
    remembered = remember(None, looked(tmp_path), ())
    (tmp_path / "a.md").unlink()
    assert away(remembered, looked(tmp_path), ["a.md"]) == away_now(tmp_path, remembered) == frozenset()


def test_vault_that_became_another_empty_folder_is_away(tmp_path: Path) -> None:
    """Also where nothing can be mounted."""
    root = tmp_path / "vault"
    write(root, {"a.md": ""})
    remembered = remember(None, looked(root), ())
    root.rename(tmp_path / "moved")
    root.mkdir()
    assert away(remembered, looked(root), ["a.md"]) == away_now(root, remembered) == {""}
    write(root, {"b.md": ""})
    assert away(remembered, looked(root), ["a.md"]) == away_now(root, remembered) == frozenset()


def test_folder_of_another_device_is_a_mounted_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the system tells it, without mounting anything."""
    write(tmp_path, {"a.md": "", "drive/b.md": ""})
    stat = Path.stat
    number = (tmp_path / "drive").stat().st_ino

    def elsewhere(path: Path, **options: bool) -> os.stat_result:
        status = stat(path, **options)
        return os.stat_result((*status[:2], 77, *status[3:])) if path.name == "drive" else status

    monkeypatch.setattr(Path, "stat", elsewhere)
    seen = looked(tmp_path)
    assert seen.mounts == {"drive": (77, number)}
    monkeypatch.undo()
    assert away(remember(None, seen, ()), looked(tmp_path), ["drive/c.md"]) == {"drive"}


@pytest.mark.parametrize("error", [OSError(116, "Stale file handle"), OSError(107, "not connected")])
def test_mounted_folder_that_does_not_answer_is_no_unmounted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    """It is named as unreadable by the walk."""
    write(tmp_path, {"drive/b.md": ""})
    remembered = Places(remember(None, looked(tmp_path), ()).root, {"drive": MOUNT})
    stat = os.stat

    def fails(path: "str | Path", **options: bool) -> os.stat_result:
        if Path(path).name == "drive":
            raise error
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", fails)
    assert away_now(tmp_path, remembered) == frozenset()
