"""Watching folders: the system's own notifications."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from watchfiles._rust_notify import RustNotify

from synapse_ls.indexer import watcher as module
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


def test_too_many_folders_are_looked_at_instead(
    tmp_path: Path, watcher: Watcher, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's limit on watches is no end, and is told."""
    real = RustNotify

    def limited(paths: list[str], debug: bool, polling: bool, *options: object) -> object:
        if not polling:
            raise OSError(28, "OS file watch limit reached.")
        return real(paths, debug, polling, *options)  # type: ignore[arg-type]  # as given

    monkeypatch.setattr(module, "RustNotify", limited)
    monkeypatch.setattr(module, "_POLL_MS", 50)
    write(tmp_path, {"a.md": "x"})
    watcher.arm([""])
    assert watcher.polling is True
    later = (tmp_path / "a.md").stat().st_mtime + 5
    os.utime(tmp_path / "a.md", (later, later))
    write(tmp_path, {"b.md": "x"})
    seen.wait("a.md", "b.md")
    monkeypatch.setattr(module, "RustNotify", real)
    watcher.arm([""])
    assert not watcher.polling
