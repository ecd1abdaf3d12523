"""One vault as ``synapse-ls doctor VAULT`` sees it."""

import os
from pathlib import Path

import pytest

from synapse_ls.cli import vault_health
from synapse_ls.vault import location

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:25 / /home/me/my\\040notes rw,relatime - nfs4 server:/export rw
31 30 0:26 / /home/me/my\\040notes/local rw - tmpfs tmpfs rw
32 22 0:27 / /mnt rw - ext4 /dev/sdb rw
33 22 0:28 / /mnt rw - fuse.sshfs me@server: rw
"""


@pytest.fixture
def mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system with several file systems."""
    (tmp_path / "mountinfo").write_text(MOUNTS)
    monkeypatch.setattr(vault_health, "_MOUNTS", tmp_path / "mountinfo")


@pytest.mark.usefixtures("mounts")
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/notes", "ext4"),
        ("/home/me/my notes", "nfs4"),
        ("/home/me/my notes/deep/down", "nfs4"),
        ("/home/me/my notes/local/x", "tmpfs"),
        ("/home/me/my notes too", "ext4"),
        ("/mnt/x", "fuse.sshfs"),
    ],
)
def test_the_innermost_and_last_mount_counts(path: str, kind: str) -> None:
    """Names with blanks are told as the system writes them."""
    assert vault_health.file_system(Path(path)) == kind


def test_a_system_that_does_not_tell_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As macOS."""
    monkeypatch.setattr(vault_health, "_MOUNTS", tmp_path / "none")
    assert vault_health.file_system(tmp_path) is None
    assert vault_health.vault(tmp_path).ok


def test_a_network_file_system_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes made elsewhere may not be told."""
    monkeypatch.setattr(vault_health, "file_system", lambda _path: "nfs4")
    found = vault_health.vault(tmp_path)
    assert found.ok
    assert found.advice is not None
    assert "synapse-ls index" in found.advice


def test_a_folder_that_is_not_there_is_bad(tmp_path: Path) -> None:
    """What is wrong and what to do stand apart."""
    found = vault_health.vault(tmp_path / "none")
    assert (found.ok, found.advice) == (False, "give the folder that holds your notes")
    assert "there is no folder" in found.detail


def test_an_index_that_is_no_file_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe is not waited for, and the command that helps is told as a shell takes it."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "my vault"
    root.mkdir()
    folder = location.index_folder(root)
    folder.mkdir(parents=True)
    assert vault_health.index(root).ok
    location.set_current(folder, "index-1.db")
    assert vault_health.index(root).ok
    os.mkfifo(folder / "index-1.db")
    found = vault_health.index(root)
    assert (found.ok, found.advice) == (False, f"run: synapse-ls index '{root}'")
    assert found.detail.endswith("index-1.db is not a file")
    (folder / "index-1.db").unlink()
    (folder / "index-1.db").write_text("shopping list\n" * 900)
    assert vault_health.index(root).advice == f"run: synapse-ls index '{root}' --rebuild"
    (folder / "current").unlink()
    os.mkfifo(folder / "current")
    assert "file is not a database" in vault_health.index(root).detail


@pytest.mark.parametrize(
    ("text", "ok", "said"),
    [
        (None, True, "defaults"),
        ("[search]\nlimit = 5\n", True, "valid"),
        ("[search]\nlimit = 0\n", False, "search.limit"),
        ("[search\n", False, "cannot be read"),
    ],
)
def test_the_settings_file_is_judged(tmp_path: Path, text: str | None, said: str, *, ok: bool) -> None:
    """As the server would."""
    if text is not None:
        (tmp_path / ".synapse.toml").write_text(text)
    found = vault_health.settings(tmp_path)
    assert found.ok is ok
    assert said in found.detail
