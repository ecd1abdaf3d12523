"""What can happen to an index: another model, other rules, damage, a disk that fails, other processes."""

import fcntl
import gc
import os
import shutil
import sqlite3
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from synapse_ls.core.errors import IndexStateError
from synapse_ls.indexer import record
from synapse_ls.store import meta, schema
from synapse_ls.vault import keeper, location
from synapse_ls.vault.vault import Vault
from tests.support.disk import failing_disk
from tests.support.indexing import HashEmbedder, write
from tests.support.vaults import LARGE, NOTES, Hashed, answers, ask, closed, opened, settled, until


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a vault of three notes, with a cache of its own and a keeper that is in a hurry."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(keeper, "_TAKEOVER_SECONDS", 0.02)
    monkeypatch.setattr(keeper, "_DISK_SECONDS", 0.05)
    write(tmp_path / "vault", NOTES)
    return tmp_path / "vault"


@pytest.fixture
def vaults() -> Iterator[Callable[..., Vault]]:
    """Give what opens vaults that are closed afterwards."""
    made: list[Vault] = []

    def make(root: Path, embedder: HashEmbedder | None = None, *, watch: bool = False) -> Vault:
        made.append(opened(root, embedder, watch=watch))
        return made[-1]

    yield make
    for vault in made:
        closed(vault)


def undisturbed(root: Path, embedder: HashEmbedder | None) -> list[tuple[object, ...]]:
    """Return the answers of an index that nothing has happened to."""
    place = os.environ["SYNAPSE_CACHE_DIR"]
    os.environ["SYNAPSE_CACHE_DIR"] = f"{place}-undisturbed"
    try:
        vault = opened(root, embedder)
        settled(vault)
        found = answers(vault)
        closed(vault)
    finally:
        os.environ["SYNAPSE_CACHE_DIR"] = place
    return found


def index_of(root: Path) -> Path:
    """Return the index file that is in use."""
    path = location.current_index(location.index_folder(root))
    assert path is not None
    return path


def index_names(root: Path) -> list[str]:
    """Return the names of all index files of a vault."""
    return sorted(path.name for path in location.index_folder(root).glob("index*.db"))


def made(root: Path, embedder: HashEmbedder | None = None) -> Path:
    """Make the index of a vault; returns its file."""
    vault = opened(root, embedder)
    settled(vault)
    closed(vault)
    return index_of(root)


def test_another_model_gets_an_index_of_its_own(root: Path, vaults: Callable[..., Vault]) -> None:
    """The old index answers by words meanwhile, vectors of two models never meet, and the swap leaves one file."""
    vault = vaults(root, HashEmbedder())
    settled(vault)
    first = index_of(root)
    before = ask(vault, "twigs").generation
    large = HashEmbedder(spec=LARGE)
    large.may_go.clear()
    old = vault._encoder
    vault.use(Hashed(large))
    old.close()
    assert large.began.wait(20)
    answer = ask(vault, "twigs in march")
    assert answer.hits[0].path == "rooks.md"
    assert (answer.semantic.state, answer.semantic.note) == (
        "unavailable",
        "the index is being made anew for another model",
    )
    status = vault.status()
    assert (status.state, status.model.name, status.embedded) == ("ready", "large", 0)
    assert status.pending > 0
    assert status.model.note == "the index is being made anew beside the one that answers"
    assert len(index_names(root)) == 2
    large.may_go.set()
    settled(vault)
    assert index_of(root) != first
    assert index_names(root) == [index_of(root).name]
    assert ask(vault, "twigs").generation > before
    assert ask(vault, "twigs").semantic.state != "unavailable"
    status = vault.status()
    assert (status.pending, status.embedded, status.model.note) == (0, status.chunks, None)
    assert answers(vault) == undisturbed(root, HashEmbedder(spec=LARGE))
    assert [warning for warning in vault.warnings if "made anew for the model large" in warning]


def test_edits_while_an_index_is_made_beside_count_in_both(root: Path, vaults: Callable[..., Vault]) -> None:
    """Nothing that is written meanwhile is lost, before the swap or after it."""
    vault = vaults(root, HashEmbedder())
    settled(vault)
    large = HashEmbedder(spec=LARGE)
    large.may_go.clear()
    vault.use(Hashed(large))
    assert large.began.wait(20)
    write(root, {"new.md": "a skylight leaks"})
    vault.submit(["new.md"])
    until(lambda: [hit.path for hit in ask(vault, "skylight").hits] == ["new.md"])
    large.may_go.set()
    settled(vault)
    assert answers(vault) == undisturbed(root, HashEmbedder(spec=LARGE))
    assert ask(vault, "skylight").hits[0].path == "new.md"


def test_going_back_to_the_old_model_costs_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its index is there until the other one is complete; what was begun of that goes."""
    embedder = HashEmbedder()
    made(root, embedder)
    with monkeypatch.context() as ended_before:
        ended_before.setattr(keeper.Keeper, "_swap", lambda *_: None)
        large = HashEmbedder(spec=LARGE)
        vault = opened(root, large)
        until(lambda: len(large.seen) > 0)
        closed(vault)
    seen = len(embedder.seen)
    back = opened(root, embedder)
    settled(back)
    closed(back)
    assert len(embedder.seen) == seen
    assert len(index_names(root)) == 1


def test_an_index_begun_for_a_model_is_gone_on_with(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it holds already is not embedded again."""
    made(root, HashEmbedder())
    large = HashEmbedder(spec=LARGE)
    with monkeypatch.context() as ended_before:
        ended_before.setattr(keeper.Keeper, "_swap", lambda *_: None)
        vault = opened(root, large)
        until(lambda: vault.status().pending == 0 and len(large.seen) > 2)
        closed(vault)
    again = HashEmbedder(spec=LARGE)
    vault = opened(root, again)
    settled(vault)
    assert again.seen == []
    assert ask(vault, "twigs").semantic.state != "unavailable"
    closed(vault)


def test_other_rules_make_an_index_beside_and_take_its_vectors_over(
    root: Path, vaults: Callable[..., Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only passages that the new rules cut differently are embedded: here none."""
    embedder = HashEmbedder()
    first = made(root, embedder)
    seen = list(embedder.seen)
    monkeypatch.setattr(record, "VERSION", "next")
    vault = vaults(root, embedder)
    settled(vault)
    assert index_of(root) != first
    assert embedder.seen == seen
    with vault.read() as db:
        assert meta.get(db, "rules") == "next"
    assert any("rules of this version" in warning for warning in vault.warnings)
    assert answers(vault) == undisturbed(root, HashEmbedder())


def test_other_rules_without_a_model_are_followed_in_place(
    root: Path, vaults: Callable[..., Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are no vectors to wait for."""
    first = made(root)
    monkeypatch.setattr(record, "VERSION", "next")
    vault = vaults(root)
    settled(vault)
    assert index_of(root) == first
    assert vault.status().files_read == 3
    with vault.read() as db:
        assert meta.get(db, "rules") == "next"


@pytest.mark.parametrize("version", [schema.VERSION - 1, schema.VERSION + 1])
def test_an_index_of_another_format_leaves_its_vectors(root: Path, vaults: Callable[..., Vault], version: int) -> None:
    """Words are there in seconds, nothing is embedded again, and the old file goes when it has given all."""
    embedder = HashEmbedder()
    first = made(root, embedder)
    with sqlite3.connect(first) as db:
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    seen = list(embedder.seen)
    vault = vaults(root, embedder)
    settled(vault)
    assert embedder.seen == seen
    until(lambda: index_names(root) == [index_of(root).name])
    assert index_of(root) != first
    assert len(vault.warnings) == 1
    assert f"schema {version}, not {schema.VERSION}" in vault.warnings[0]
    assert answers(vault) == undisturbed(root, HashEmbedder())


def test_rebuilding_answers_from_the_old_index_until_the_new_one_is_there(
    root: Path, vaults: Callable[..., Vault]
) -> None:
    """And embeds everything anew, for vectors may be what is wrong."""
    embedder = HashEmbedder()
    vault = vaults(root, embedder)
    settled(vault)
    first, seen = index_of(root), len(embedder.seen)
    embedder.may_go.clear()
    vault.rebuild()
    until(lambda: len(index_names(root)) == 2)
    assert ask(vault, "twigs").semantic.state != "unavailable"
    embedder.may_go.set()
    settled(vault)
    assert index_of(root) != first
    assert len(embedder.seen) == 2 * seen
    assert answers(vault) == undisturbed(root, HashEmbedder())


def ruins(path: Path) -> dict[str, Callable[[], object]]:
    """Return ways to ruin an index file."""
    data = path.read_bytes()
    middle = len(data) // 2

    def sql(*statements: str) -> None:
        with sqlite3.connect(path) as db:
            for statement in statements:
                db.execute(statement)
        db.close()

    def folder() -> None:
        path.unlink()
        path.mkdir()

    def link(to: str) -> None:
        path.unlink()
        path.symlink_to(to)

    def instead(name: str, put: Callable[[Path], object]) -> Callable[[], object]:
        place = path.parent / name

        def replace() -> None:
            place.unlink(missing_ok=True)
            put(place)

        return replace

    return {
        "empty": lambda: path.write_bytes(b""),
        "gone": path.unlink,
        "text": lambda: path.write_bytes(b"shopping list\n" * 900),
        "cut in half": lambda: path.write_bytes(data[:middle]),
        "cut in a page": lambda: path.write_bytes(data[: middle + 100]),
        "head overwritten": lambda: path.write_bytes(b"\xff" * 200 + data[200:]),
        "zeroed middle": lambda: path.write_bytes(data[:4096] + bytes(middle) + data[4096 + middle :]),
        "noise": lambda: path.write_bytes(data[:100] + os.urandom(len(data) - 100)),
        "newer": lambda: sql(f"PRAGMA user_version = {schema.VERSION + 7}"),
        "older": lambda: sql("PRAGMA user_version = 1"),
        "of another application": lambda: sql("PRAGMA application_id = 7"),
        "without a table": lambda: sql("DROP TABLE chunks"),
        "without facts": lambda: sql("DELETE FROM meta"),
        "a folder": folder,
        "a dead link": lambda: link("nowhere/at/all.db"),
        "a link to itself": lambda: link(path.name),
        "a pipe": instead(path.name, os.mkfifo),
        "a folder for the log": instead(f"{path.name}-wal", Path.mkdir),
        "a pipe for the log": instead(f"{path.name}-wal", os.mkfifo),
        "a folder for the index of the log": instead(f"{path.name}-shm", Path.mkdir),
        "a folder for the pointer": instead("current", Path.mkdir),
        "a link for the pointer": instead("current", lambda place: place.symlink_to("/etc/passwd")),
        "a pipe for the pointer": instead("current", os.mkfifo),
        "a folder for the vault's name": instead("vault", Path.mkdir),
        "a pipe for the vault's name": instead("vault", os.mkfifo),
        "a folder for the lock": instead("writer.lock", Path.mkdir),
        "a pipe for the lock": instead("writer.lock", os.mkfifo),
        "a link for the lock": instead("writer.lock", lambda place: place.symlink_to("/etc/passwd")),
        "foreign journal": lambda: path.with_name(path.name + "-wal").write_bytes(os.urandom(9000)),
        "pointer of nonsense": lambda: (path.parent / "current").write_bytes(b"../../etc/passwd"),
        "no pointer": (path.parent / "current").unlink,
        "pointer to nothing": lambda: (path.parent / "current").write_text("index-77.db"),
    }


RUINS = (
    "empty", "gone", "text", "cut in half", "cut in a page", "head overwritten", "zeroed middle", "noise", "newer",
    "older", "of another application", "without a table", "without facts", "a folder", "a dead link",
    "foreign journal", "pointer of nonsense", "no pointer", "pointer to nothing", "a link to itself", "a pipe",
    "a folder for the log", "a pipe for the log", "a folder for the index of the log", "a folder for the pointer",
    "a link for the pointer", "a pipe for the pointer", "a folder for the vault's name", "a pipe for the vault's name",
    "a folder for the lock", "a pipe for the lock", "a link for the lock",
)  # fmt: skip


# Of these it is said that the index is rebuilt; the others can be mended, or were none.
TOLD = (
    "empty", "text", "cut in half", "cut in a page", "head overwritten", "zeroed middle", "noise", "newer", "older",
    "of another application", "without a table", "a folder", "a dead link", "a link to itself", "a pipe",
)  # fmt: skip


@pytest.mark.parametrize("ruin", RUINS)
def test_a_ruined_index_is_made_anew(root: Path, vaults: Callable[..., Vault], ruin: str) -> None:
    """The answers are those of an undisturbed one; one sentence says what happened, and none the next time."""
    path = made(root, HashEmbedder())
    ways = ruins(path)
    assert set(ways) == set(RUINS)
    ways[ruin]()
    vault = vaults(root, HashEmbedder())
    settled(vault)
    try:
        found = answers(vault)
    except IndexStateError as error:
        assert "being rebuilt" in str(error)  # noqa: PT017 - damage may show at opening or only now
        settled(vault)
        found = answers(vault)
    assert found == undisturbed(root, HashEmbedder())
    assert len(vault.warnings) == (ruin in TOLD)
    assert vault.status().error is None
    assert index_names(root) == [index_of(root).name]
    assert location.vault_of(path.parent) == root
    closed(vault)
    again = vaults(root, HashEmbedder())
    settled(again)
    assert (again.warnings, again.status().files_read) == ([], 0)


def test_a_cache_that_cannot_be_written_leaves_the_index_in_memory(root: Path, vaults: Callable[..., Vault]) -> None:
    """Search works, said once; as soon as the disk can be written the index is there."""
    cache = root.parent / "cache"
    cache.write_text("a file in its place")
    vault = vaults(root, HashEmbedder())
    settled(vault)
    assert answers(vault) == undisturbed(root, HashEmbedder())
    assert len(vault.warnings) == 1
    assert "the index is kept in memory meanwhile" in vault.warnings[0]
    assert "SYNAPSE_CACHE_DIR" in vault.warnings[0]
    status = vault.status()
    assert (status.state, status.notes) == ("ready", 3)
    assert "in memory" in (status.error or "")
    write(root, {"new.md": "a skylight leaks"})
    vault.submit(["new.md"])
    settled(vault)
    assert ask(vault, "skylight").hits[0].path == "new.md"
    cache.unlink()
    until(lambda: vault.status().error is None)
    settled(vault)
    assert index_of(root).exists()
    assert ask(vault, "skylight").hits[0].path == "new.md"
    assert answers(vault) == undisturbed(root, HashEmbedder())


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError, apsw.ReadOnlyError])
def test_a_disk_that_fails_later_is_answered_from_memory(root: Path, error: type[apsw.Error]) -> None:
    """What is on disk answers until memory does, with its vectors; then it is the disk again."""
    with failing_disk() as disk:
        embedder = HashEmbedder()
        vault = opened(root, embedder)
        settled(vault)
        seen = list(embedder.seen)
        disk.error, disk.fails_at = error, 0
        write(root, {"new.md": "a skylight leaks"})
        vault.submit(["new.md"])
        until(lambda: "in memory" in (vault.status().error or ""))
        assert ask(vault, "twigs").hits[0].path == "rooks.md"
        until(lambda: [hit.path for hit in ask(vault, "skylight").hits[:1]] == ["new.md"])
        settled(vault)
        assert [text for text in embedder.seen if "skylight" not in text] == seen
        disk.fails_at = None
        until(lambda: vault.status().error is None)
        settled(vault)
        assert answers(vault) == undisturbed(root, HashEmbedder())
        closed(vault)
        assert len(vault.warnings) == 1
    again = HashEmbedder()
    vault = opened(root, again)
    settled(vault)
    assert (vault.status().files_read, again.seen) == (0, [])
    closed(vault)


def test_a_disk_that_dies_at_any_write_loses_nothing(root: Path) -> None:
    """As a process killed at that moment leaves the files: the next one ends with the answers of an undisturbed one."""
    with failing_disk() as disk:
        vault = opened(root, HashEmbedder())
        settled(vault)
        closed(vault)
        writes = disk.written
    wanted = undisturbed(root, HashEmbedder())
    step = max(1, writes // 25)
    for point in range(1, writes, step):
        for path in location.index_folder(root).iterdir():
            path.unlink()
        with failing_disk() as disk:
            disk.fails_at = point
            vault = opened(root, HashEmbedder())
            settled(vault)
            closed(vault)
        after = opened(root, HashEmbedder())
        settled(after)
        assert answers(after) == wanted, f"after a failure at write {point} of {writes}"
        assert after.status().error is None
        closed(after)


def test_a_power_cut_loses_at_most_the_last_commits(root: Path) -> None:
    """A journal that ends anywhere is an earlier state, and the notes bring the rest."""
    wanted = undisturbed(root, HashEmbedder())
    vault = opened(root, HashEmbedder())
    settled(vault)
    path = index_of(root)
    journal = path.with_name(path.name + "-wal")
    files = path.read_bytes(), journal.read_bytes()
    closed(vault)
    assert len(files[1]) > 10_000
    for cut in range(0, len(files[1]), len(files[1]) // 12):
        path.write_bytes(files[0])
        journal.write_bytes(files[1][:cut])
        after = opened(root, HashEmbedder())
        settled(after)
        assert answers(after) == wanted
        assert after.status().error is None
        closed(after)
        path = index_of(root)
        journal = path.with_name(path.name + "-wal")


def test_an_index_locked_by_a_stranger_is_left_alone(
    root: Path, vaults: Callable[..., Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search goes on in memory and returns to the file, vectors and all, when the stranger has gone."""
    monkeypatch.setattr("synapse_ls.store.database._BUSY_MS", 50)
    embedder = HashEmbedder()
    path = made(root, embedder)
    # Locks count between processes only.
    held = f"""
import sqlite3
db = sqlite3.connect({str(path)!r}, isolation_level=None)
db.execute("PRAGMA locking_mode = EXCLUSIVE")
db.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
input()
"""
    stranger = subprocess.Popen([sys.executable, "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert stranger.stdout is not None
    assert stranger.stdout.readline() == b"locked\n"
    vault = vaults(root, HashEmbedder())
    settled(vault)
    assert ask(vault, "twigs").hits[0].path == "rooks.md"
    assert "locked" in (vault.status().error or "")
    stranger.communicate(b"\n")
    until(lambda: vault.status().error is None)
    settled(vault)
    assert index_of(root) == path
    assert len(vault.warnings) == 1


def test_a_reader_follows_the_writer_to_its_new_index(root: Path, vaults: Callable[..., Vault]) -> None:
    """It reads along before, during and after the swap, and takes over when the writer ends."""
    writer, reader = opened(root, HashEmbedder()), vaults(root, HashEmbedder(), watch=True)
    settled(writer)
    writer.rebuild()
    settled(writer)
    until(lambda: answers(reader) == answers(writer))
    write(root, {"new.md": "a skylight leaks"})
    writer.submit(["new.md"])
    settled(writer)
    until(lambda: [hit.path for hit in ask(reader, "skylight").hits[:1]] == ["new.md"])
    with pytest.raises(IndexStateError, match="another Synapse is writing"):
        reader.rebuild()
    closed(writer)
    until(lambda: not reader.read_only)
    settled(reader)
    assert reader.status().state == "ready"
    assert answers(reader) == undisturbed(root, HashEmbedder())


def test_a_reader_waits_for_an_index_that_is_only_being_made(root: Path, vaults: Callable[..., Vault]) -> None:
    """Between the lock and the first file there is nothing to read."""
    folder = location.index_folder(root)
    folder.mkdir(parents=True)
    with (folder / location.LOCK_NAME).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        reader = vaults(root, HashEmbedder(), watch=True)
        with pytest.raises(IndexStateError, match="another Synapse is making this index"):
            ask(reader, "twigs")
        assert reader.status().state in {"starting", "readOnly"}
    until(lambda: not reader.read_only)
    settled(reader)
    assert ask(reader, "twigs").hits[0].path == "rooks.md"


def test_an_index_folder_that_is_removed_is_made_again(root: Path, vaults: Callable[..., Vault]) -> None:
    """What is open answers all the while; a rebuild puts it where it was."""
    vault = vaults(root, HashEmbedder())
    settled(vault)
    shutil.rmtree(root.parent / "cache")
    assert answers(vault) == undisturbed(root, HashEmbedder())
    vault.rebuild()
    settled(vault)
    assert vault.status().error is None
    assert index_of(root).exists()
    assert answers(vault) == undisturbed(root, HashEmbedder())


@pytest.mark.parametrize("content", ["index-999.db", "nonsense", ""])
def test_a_reader_finds_the_index_whatever_is_named_as_current(
    root: Path, vaults: Callable[..., Vault], content: str
) -> None:
    """A file that says something else than what is there is passed over."""
    writer = vaults(root, HashEmbedder())
    settled(writer)
    (index_of(root).parent / "current").write_text(content)
    reader = vaults(root, HashEmbedder(), watch=True)
    assert answers(reader) == answers(writer)


def test_what_was_replaced_is_let_go_at_once(root: Path, vaults: Callable[..., Vault]) -> None:
    """Its files and watches do not wait for a search for garbage, which a server hardly ever makes."""
    vault = vaults(root, HashEmbedder(), watch=True)
    settled(vault)
    assert vault._keeper is not None
    assert vault._keeper.active is not None
    former = [weakref.ref(vault._keeper.active.indexer), weakref.ref(vault._keeper.active.index)]
    gc.disable()
    try:
        vault.rebuild()
        settled(vault)
        until(lambda: all(reference() is None for reference in former))
    finally:
        gc.enable()
