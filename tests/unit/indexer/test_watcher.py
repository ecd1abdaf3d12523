"""Watching folders: the system's own notifications."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from watchfiles._rust_notify import RustNotify

from synapse_ls.indexer import watcher as module
from synapse_ls.indexer.sweep import Sweep
from synapse_ls.indexer.watcher import Watcher
from tests.support.indexing import write

PATIENCE = 20.0


class Seen:
    """What a watcher told."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.paths: set[str] = set()
        self.changed = threading.Condition()

    def __call__(self, paths: set[str]) -> None:
        """Take over what is told."""
        with self.changed:
            self.paths |= {Path(path).relative_to(self.root).as_posix() for path in paths}
            self.changed.notify_all()

    def wait(self, *paths: str) -> None:
        """Wait until all of these were told."""
        with self.changed:
            assert self.changed.wait_for(lambda: set(paths) <= self.paths, PATIENCE), self.paths


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    """Give an ear."""
    return Seen(tmp_path)


@pytest.fixture
def watcher(tmp_path: Path, seen: Seen) -> Iterator[Watcher]:
    """Give a watcher that is closed afterwards."""
    made = Watcher(tmp_path, seen)
    yield made
    made.close()


def test_files_and_folders_are_told(tmp_path: Path, watcher: Watcher, seen: Seen) -> None:
    """Made, written, renamed and removed."""
    write(tmp_path, {"old.md": "x", "sub/b.md": "x"})
    watcher.arm(["", "sub"])
    write(tmp_path, {"new.md": "x", "sub/b.md": "changed"})
    (tmp_path / "folder").mkdir()
    seen.wait("new.md", "sub/b.md", "folder")
    (tmp_path / "old.md").rename(tmp_path / "sub/moved.md")
    (tmp_path / "new.md").unlink()
    seen.wait("old.md", "sub/moved.md", "new.md")
    assert watcher.polling is False


def test_folders_that_are_not_armed_are_silent(tmp_path: Path, watcher: Watcher, seen: Seen) -> None:
    """An ignored folder costs nothing, however much goes on in it."""
    write(tmp_path, {"in/a.md": "x", "out/b.md": "x", "in/deep/c.md": "x"})
    watcher.arm(["", "in"])
    write(tmp_path, {"out/b.md": "changed", "in/deep/c.md": "changed"})
    write(tmp_path, {"in/a.md": "changed"})
    seen.wait("in/a.md")
    assert not {path for path in seen.paths if path.startswith(("out/", "in/deep/"))}


def test_new_watch_takes_over_and_nothing_is_lost_between(tmp_path: Path, watcher: Watcher, seen: Seen) -> None:
    """Changes right before and right after the change of the watch are all told."""
    write(tmp_path, {"first/a.md": "x"})
    folders = ["", "first"]
    watcher.arm(folders)
    for number in range(10):
        write(tmp_path, {f"first/n{number}.md": "x", f"new{number}/x.md": "x"})
        folders.append(f"new{number}")
        watcher.arm(folders)
        write(tmp_path, {f"new{number}/late.md": "x"})
    seen.wait(*(f"first/n{number}.md" for number in range(10)), *(f"new{number}/late.md" for number in range(10)))


def test_former_folders_fall_silent(tmp_path: Path, watcher: Watcher, seen: Seen) -> None:
    """A folder that is ignored from now on is not told of any more."""
    write(tmp_path, {"in/a.md": "x", "out/b.md": "x"})
    watcher.arm(["in", "out"])
    watcher.arm(["in"])
    write(tmp_path, {"in/a.md": "1"})
    seen.wait("in/a.md")
    write(tmp_path, {"in/c.md": "1"})
    seen.wait("in/c.md")
    write(tmp_path, {"out/b.md": "1"})
    write(tmp_path, {"in/d.md": "1"})
    seen.wait("in/d.md")
    assert "out/b.md" not in seen.paths


def test_nothing_is_told_after_close(tmp_path: Path, seen: Seen) -> None:
    """The thread is gone."""
    watcher = Watcher(tmp_path, seen)
    watcher.arm([""])
    write(tmp_path, {"a.md": "x"})
    seen.wait("a.md")
    watcher.close()
    assert watcher._thread is not None
    assert not watcher._thread.is_alive()
    watcher.arm([""])
    watcher.close()
    assert not watcher._thread.is_alive()


def test_close_before_anything_was_armed(tmp_path: Path, seen: Seen) -> None:
    """There is no thread to wait for."""
    Watcher(tmp_path, seen).close()


def test_folders_that_are_gone_are_left_out(tmp_path: Path, watcher: Watcher, seen: Seen) -> None:
    """Even all of them."""
    watcher.arm(["gone", "also/gone"])
    watcher.arm(["", "gone"])
    write(tmp_path, {"a.md": "x"})
    seen.wait("a.md")
    assert watcher.polling is False


def test_folder_that_goes_while_it_is_armed_is_left_out(
    tmp_path: Path, watcher: Watcher, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no reason to look at all folders every two seconds."""
    (tmp_path / "sub").mkdir()
    real = RustNotify
    asked: list[list[str]] = []

    def made(paths: list[str], *options: object) -> object:
        asked.append(paths)
        if len(asked) == 1:
            (tmp_path / "sub").rmdir()
            raise FileNotFoundError(2, "No such file or directory")
        return real(paths, *options)  # type: ignore[arg-type]  # as given

    monkeypatch.setattr(module, "RustNotify", made)
    watcher.arm(["", "sub"])
    assert [len(paths) for paths in asked] == [2, 1]
    assert watcher.polling is False
    write(tmp_path, {"a.md": "x"})
    seen.wait("a.md")


@pytest.fixture
def unwatchable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the system watch nothing."""

    def limited(*_: object) -> object:
        raise OSError(28, "OS file watch limit reached.")

    monkeypatch.setattr(module, "RustNotify", limited)
    monkeypatch.setattr(module, "_POLL_SECONDS", 0.02)


@pytest.mark.usefixtures("unwatchable")
def test_too_many_folders_are_looked_at_instead(
    tmp_path: Path, watcher: Watcher, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's limit on watches is no end, and is told."""
    write(tmp_path, {"a.md": "x", "old.md": "x", "sub/c.md": "x"})
    watcher.arm(["", "sub"])
    assert watcher.polling is True
    write(tmp_path, {"a.md": "changed", "b.md": "x", "sub/c.md": "changed", "new/d.md": "x"})
    (tmp_path / "old.md").unlink()
    seen.wait("a.md", "b.md", "sub/c.md", "old.md", "new")
    monkeypatch.setattr(module, "RustNotify", RustNotify)
    watcher.arm([""])
    assert not watcher.polling


@pytest.mark.usefixtures("unwatchable")
def test_edit_that_keeps_size_and_time_is_seen_by_looking(tmp_path: Path, watcher: Watcher, seen: Seen) -> None:
    """Within the same second, or with the time set back."""
    write(tmp_path, {"a.md": "x", "b.md": "x"})
    before = (tmp_path / "a.md").stat()
    watcher.arm([""])
    write(tmp_path, {"a.md": "y"})
    os.utime(tmp_path / "a.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    seen.wait("a.md")
    assert "b.md" not in seen.paths


@pytest.mark.usefixtures("unwatchable")
def test_nothing_is_lost_when_looking_starts_over(tmp_path: Path, watcher: Watcher, seen: Seen) -> None:
    """What changed since the last look is told before the new watch takes over."""
    for number in range(10):
        watcher.arm([""])
        write(tmp_path, {f"n{number}.md": "x"})
    watcher.arm([""])
    seen.wait(*(f"n{number}.md" for number in range(10)))


def test_folder_that_does_not_answer_has_lost_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it holds is not told to be gone."""
    write(tmp_path, {"sub/a.md": "x", "gone/b.md": "x"})
    sweep = Sweep([str(tmp_path / "sub"), str(tmp_path / "gone")], 0.0)
    (tmp_path / "gone/b.md").unlink()
    (tmp_path / "gone").rmdir()
    scandir = os.scandir

    def stale(path: str) -> object:
        if path.endswith("sub"):
            raise OSError(116, "Stale file handle")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", stale)
    assert sweep.changed() == {str(tmp_path / "gone/b.md")}
    monkeypatch.undo()
    assert sweep.changed() == set()


class _Failing:
    """A watch that fails."""

    def watch(self, *_: object) -> object:
        """Fail."""
        raise RuntimeError("the queue of events is broken")


def test_watch_that_fails_is_armed_again_and_all_is_looked_at(
    tmp_path: Path, watcher: Watcher, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told while it lasts; afterwards changes are seen as before."""
    monkeypatch.setattr(module, "_AGAIN_SECONDS", 0.01)
    errors: list[str | None] = []
    allowed, real = threading.Event(), threading.Event()

    def made(*options: object) -> object:
        errors.append(watcher.error)
        if not allowed.is_set():
            return _Failing()
        watch = RustNotify(*options)  # type: ignore[arg-type]  # as given
        real.set()
        return watch

    monkeypatch.setattr(module, "RustNotify", made)
    watcher.arm([""])
    seen.wait(".")
    allowed.set()
    while_it_lasts = "changes are not seen for now (the queue of events is broken); the folders are watched again soon"
    assert errors[:2] == [None, while_it_lasts]
    assert real.wait(PATIENCE)
    write(tmp_path, {"a.md": "x"})
    seen.wait("a.md")
    assert watcher.error is None


def test_listener_that_fails_does_not_end_the_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it did not take is told anew, as a change of everything."""
    monkeypatch.setattr(module, "_AGAIN_SECONDS", 0.01)
    seen = Seen(tmp_path)
    failures = [ValueError("not now")]

    def told(paths: set[str]) -> None:
        if failures:
            raise failures.pop()
        seen(paths)

    watcher = Watcher(tmp_path, told)
    watcher.arm([""])
    write(tmp_path, {"a.md": "x"})
    seen.wait(".")
    write(tmp_path, {"b.md": "x"})
    seen.wait("b.md")
    watcher.close()
