"""What Synapse lives in, good and bad."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from filelock import FileLock

from synapse_ls.cli import surroundings
from synapse_ls.vault import location


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache folder for its owner alone."""
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(folder))
    return folder


def indexed(root: Path) -> Path:
    """Return the index folder of a vault, with something in it."""
    folder = location.index_folder(root)
    folder.mkdir(parents=True, mode=0o700)
    folder.parent.chmod(0o700)
    (folder / "index-1.db").touch(mode=0o600)
    location.remember(folder, root)
    return folder


@pytest.mark.parametrize(
    ("watches", "instances", "said"),
    [("500000", "10000", None), ("100", "10000", "max_user_watches"), ("500000", "1", "max_user_instances")],
)
def test_low_limits_of_watching_are_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watches: str, instances: str, said: str | None
) -> None:
    """With the command that raises the one that is low."""
    (tmp_path / "max_user_watches").write_text(watches)
    (tmp_path / "max_user_instances").write_text(instances)
    monkeypatch.setattr(surroundings, "_LIMITS", tmp_path)
    found = surroundings.inotify()
    assert found.ok
    assert (found.advice is None) if said is None else (found.advice is not None and said in found.advice)


def test_a_system_without_inotify_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As macOS is."""
    monkeypatch.setattr(surroundings, "_LIMITS", tmp_path / "none")
    assert surroundings.inotify().ok


def test_looking_at_the_cache_does_not_make_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Before the first index there is none."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path / "not/yet"))
    assert surroundings.cache().ok
    assert surroundings.privacy().ok
    assert surroundings.indexes().ok
    assert surroundings.logs().ok
    assert not (tmp_path / "not").exists()


def test_little_room_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """With how much is needed."""
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=100 * 2**20))
    found = surroundings.cache()
    assert found.ok
    assert "100 MiB free" in found.detail
    assert found.advice is not None
    assert "200 MiB" in found.advice


def test_a_file_in_place_of_the_cache_is_bad(cache: Path) -> None:
    """It names the variable."""
    cache.rmdir()
    cache.write_text("in the way")
    found = surroundings.cache()
    assert not found.ok
    assert found.advice is not None
    assert "SYNAPSE_CACHE_DIR" in found.advice


def test_a_loose_cache_is_a_warning_with_the_command_that_mends_it(cache: Path) -> None:
    """Folders and files; the cache folder itself may be shared."""
    folder = indexed(Path("/gone"))
    cache.chmod(0o755)
    assert surroundings.privacy().advice is None
    (folder / "index-1.db").chmod(0o640)
    found = surroundings.privacy()
    assert found.ok
    assert "index-1.db" in found.detail
    assert found.advice == f"run: chmod -R go= {cache}"
    (folder / "index-1.db").chmod(0o600)
    folder.chmod(0o701)
    assert folder.name in surroundings.privacy().detail


def test_what_belongs_to_another_user_is_bad(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a run with sudo."""
    indexed(Path("/gone"))
    monkeypatch.setattr("os.geteuid", lambda: 54321)
    found = surroundings.privacy()
    assert not found.ok
    assert found.advice == f"run: sudo chown -R 54321 {cache}"


def test_indexes_are_counted_and_those_without_a_vault_named(tmp_path: Path) -> None:
    """With the command that removes each, quoted for the shell."""
    indexed(tmp_path)
    assert surroundings.indexes().advice is None
    indexed(Path("/no such/vault"))
    found = surroundings.indexes()
    assert found.ok
    assert found.detail.startswith("2, ")
    assert found.advice is not None
    assert "synapse-ls forget '/no such/vault'" in found.advice


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="the system does not tell who holds a lock")
def test_an_index_in_use_is_told(tmp_path: Path) -> None:
    """Without taking its lock."""
    folder = indexed(tmp_path)
    assert "running" not in surroundings.indexes().detail
    with FileLock(folder / location.LOCK_NAME):
        assert "1 kept by a running Synapse" in surroundings.indexes().detail
    assert "running" not in surroundings.indexes().detail


def test_no_folder_for_temporary_files_is_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the variable."""

    def refuse() -> None:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    found = surroundings.temporary()
    assert not found.ok
    assert found.advice is not None
    assert "TMPDIR" in found.advice
