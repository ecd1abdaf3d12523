"""An index whose files are taken away or replaced while it is in use: connections that are open do not notice."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from synapse_ls.core.errors import IndexStateError
from synapse_ls.vault import keeper, location
from synapse_ls.vault.vault import Vault
from tests.support.indexing import HashEmbedder, write
from tests.support.vaults import NOTES, answers, ask, closed, opened, settled, until

NEVER = 1_000.0


def _gone(folder: Path) -> None:
    """Take a folder away in one step: a server that works in it may write while it is emptied."""
    aside = folder.with_name(f"{folder.name} is gone")
    folder.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a vault of three notes, with a cache of its own and a keeper that looks all the time."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(keeper, "_TAKEOVER_SECONDS", 0.02)
    monkeypatch.setattr(keeper, "_DISK_SECONDS", 0.05)
    monkeypatch.setattr(keeper, "_PLACE_SECONDS", 0.02)
    write(tmp_path / "vault", NOTES)
    return tmp_path / "vault"


@pytest.fixture
def vaults() -> Iterator[Callable[..., Vault]]:
    """Give what opens vaults that are closed afterwards."""
    made: list[Vault] = []

    def make(root: Path, embedder: HashEmbedder | None = None) -> Vault:
        made.append(opened(root, embedder))
        return made[-1]

    yield make
    for vault in made:
        closed(vault)


def index_of(root: Path) -> Path:
    """Return the index file that is in use."""
    path = location.current_index(location.index_folder(root))
    assert path is not None
    return path


def apart(work: Callable[[], object]) -> object:
    """Return what ``work`` returns or raises in a thread of its own, which has no connection yet."""
    came: list[object] = []

    def run() -> None:
        try:
            came.append(work())
        except IndexStateError as error:
            came.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return came[0]


def _instead(path: Path, put: Callable[[Path], object]) -> None:
    path.unlink()
    put(path)


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


LOSSES: dict[str, Callable[[Path], object]] = {
    "the cache goes": lambda path: _gone(path.parents[2]),
    "the folder goes": lambda path: _gone(path.parent),
    "the folder is renamed": lambda path: path.parent.rename(path.parent.with_name("elsewhere")),
    "the file goes": Path.unlink,
    "a folder": lambda path: _instead(path, Path.mkdir),
    "a link to itself": lambda path: _instead(path, lambda place: place.symlink_to(place.name)),
    "a link to another file": lambda path: _instead(path, lambda place: place.symlink_to("/etc/passwd")),
    "a pipe": lambda path: _instead(path, os.mkfifo),
    "another file": lambda path: _instead(path, lambda place: place.write_bytes(b"shopping list\n" * 900)),
    "an empty file": lambda path: _instead(path, Path.touch),
    "a folder for the log": lambda path: _instead(_wal(path), Path.mkdir),
    "no log": lambda path: _wal(path).unlink(),
    "no pointer and no file": lambda path: [path.unlink(), (path.parent / "current").unlink()],
    "a folder for the pointer and no file": lambda path: [
        path.unlink(), _instead(path.parent / "current", Path.mkdir)
    ],
}  # fmt: skip


@pytest.mark.parametrize("looks", [0.02, NEVER])
@pytest.mark.parametrize("loss", LOSSES)
def test_an_index_that_is_taken_away_is_written_again(
    root: Path, vaults: Callable[..., Vault], monkeypatch: pytest.MonkeyPatch, loss: str, looks: float
) -> None:
    """Noticed by a look or by the first reader, with its vectors, told once; edits count, a restart reads nothing."""
    monkeypatch.setattr(keeper, "_PLACE_SECONDS", looks)
    embedder = HashEmbedder()
    vault = vaults(root, embedder)
    settled(vault)
    expected, seen, first = answers(vault), list(embedder.seen), index_of(root)
    LOSSES[loss](first)
    assert apart(lambda: answers(vault)) == expected
    until(lambda: len(vault.warnings) == 1)
    settled(vault)
    assert "written again" in vault.warnings[0]
    assert embedder.seen == seen
    write(root, {"new.md": "a skylight leaks"})
    vault.submit(["new.md"])
    settled(vault)
    assert apart(lambda: ask(vault, "skylight").hits[0].path) == "new.md"
    assert (vault.status().error, vault.status().state) == (None, "ready")
    assert len(vault.warnings) == 1
    closed(vault)
    again = vaults(root, HashEmbedder())
    settled(again)
    assert (again.status().files_read, again.warnings) == (0, [])


def test_an_index_that_nobody_may_open_is_written_again(
    root: Path, vaults: Callable[..., Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a change of its mode."""
    vault = vaults(root, HashEmbedder())
    settled(vault)
    first, may = index_of(root), os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != first and may(path, mode))
    until(lambda: index_of(root) != first)
    settled(vault)
    assert apart(lambda: ask(vault, "twigs").hits[0].path) == "rooks.md"


def test_a_cache_that_becomes_a_file_leaves_the_index_in_memory(root: Path, vaults: Callable[..., Vault]) -> None:
    """With all that it held; and it is on disk again once that can be."""
    embedder = HashEmbedder()
    vault = vaults(root, embedder)
    settled(vault)
    expected, seen = answers(vault), list(embedder.seen)
    _gone(root.parent / "cache" / "vaults")
    (root.parent / "cache" / "vaults").touch()
    assert apart(lambda: answers(vault)) == expected
    until(lambda: "in memory" in (vault.status().error or ""))
    assert apart(lambda: answers(vault)) == expected
    assert embedder.seen == seen
    (root.parent / "cache" / "vaults").unlink()
    until(lambda: vault.status().error is None)
    settled(vault)
    assert index_of(root).exists()
    assert apart(lambda: answers(vault)) == expected
    assert (embedder.seen, len(vault.warnings)) == (seen, 1)


def test_an_index_in_memory_is_rebuilt_beside_itself(root: Path, vaults: Callable[..., Vault]) -> None:
    """As one on disk is."""
    (root.parent / "cache").touch()
    embedder = HashEmbedder()
    vault = vaults(root, embedder)
    settled(vault)
    expected, seen = answers(vault), len(embedder.seen)
    vault.rebuild()
    settled(vault)
    assert answers(vault) == expected
    assert len(embedder.seen) == 2 * seen
    assert "in memory" in (vault.status().error or "")


def test_an_index_that_is_emptied_is_made_anew(root: Path, vaults: Callable[..., Vault]) -> None:
    """What is left of it in memory is not believed."""
    vault = vaults(root, HashEmbedder())
    settled(vault)
    expected, first = answers(vault), index_of(root)
    os.truncate(first, 0)
    until(lambda: index_of(root) != first)
    settled(vault)
    assert apart(lambda: answers(vault)) == expected
    assert len(vault.warnings) == 1
    assert vault.warnings[0].count("damaged") == 1
    assert vault.status().error is None


def test_a_lock_that_is_taken_away_is_taken_again(root: Path, vaults: Callable[..., Vault]) -> None:
    """So that no other process writes beside this one; nothing is told and nothing made anew."""
    vault = vaults(root, HashEmbedder())
    settled(vault)
    first = index_of(root)
    (first.parent / location.LOCK_NAME).unlink()
    until((first.parent / location.LOCK_NAME).exists)
    settled(vault)
    other = vaults(root, HashEmbedder())
    assert other.read_only
    assert answers(other) == answers(vault)
    assert (index_of(root), vault.warnings, vault.read_only) == (first, [], False)


def test_a_process_that_began_anew_meanwhile_keeps_the_right_to_write(
    root: Path, vaults: Callable[..., Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The former writer reads along from then on."""
    monkeypatch.setattr(keeper, "_PLACE_SECONDS", NEVER)
    former = vaults(root, HashEmbedder())
    settled(former)
    _gone(root.parent / "cache")
    other = vaults(root, HashEmbedder())
    settled(other)
    assert not other.read_only
    former.rebuild()
    settled(former)
    assert former.read_only
    assert apart(lambda: answers(former)) == answers(other)


def test_a_reader_follows_an_index_that_is_written_again(root: Path, vaults: Callable[..., Vault]) -> None:
    """Under the name that the lost one had, by whichever of the two is the first to notice."""
    writer, reader = vaults(root, HashEmbedder()), vaults(root, HashEmbedder())
    settled(writer)
    until(lambda: answers(reader) == answers(writer))
    _gone(root.parent / "cache")
    until(lambda: len(writer.warnings) == 1)
    write(root, {"new.md": "a skylight leaks"})
    until(lambda: writer.read_only != reader.read_only)
    for vault in (writer, reader):
        vault.submit(["new.md"])
        settled(vault)
    until(lambda: [hit.path for hit in ask(reader, "skylight").hits[:1]] == ["new.md"])
    assert apart(lambda: answers(reader)) == answers(writer)


def test_handles_that_are_short_are_no_loss(
    root: Path, vaults: Callable[..., Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that cannot be opened though all is in its place is told to try again."""
    vault = vaults(root, HashEmbedder())
    settled(vault)
    first = index_of(root)
    active = vault._keeper and vault._keeper.active
    assert active is not None

    def refused(_flags: int) -> None:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as short:
        short.setattr(active.index, "_connected", refused)
        said = apart(lambda: ask(vault, "twigs"))
    assert said == "the index cannot be read (Too many open files); try again in a moment"
    assert apart(lambda: ask(vault, "twigs").hits[0].path) == "rooks.md"
    assert (index_of(root), vault.warnings) == (first, [])


def test_an_index_that_is_only_looked_at_says_how_to_make_it(root: Path, vaults: Callable[..., Vault]) -> None:
    """Nobody writes it."""
    vault = vaults(root)
    settled(vault)
    closed(vault)
    looking = vaults(root)
    closed(looking)
    path = index_of(root)
    alone = Vault(root, looking.settings, looking._encoder, watch=False)
    assert alone.look()
    _instead(path, os.mkfifo)
    with pytest.raises(IndexStateError, match=r"is not a file.*; run synapse-ls index"):
        ask(alone, "twigs")
    assert not Vault(root, looking.settings, looking._encoder, watch=False).look()
    alone.close()
