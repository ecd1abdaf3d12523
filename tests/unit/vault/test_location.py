"""Where indexes lie."""

import os
from pathlib import Path

import pytest

from synapse_ls.core.errors import VaultError
from synapse_ls.vault import location


def test_cache_root_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else it is the user's own cache folder."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path))
    assert location.cache_root() == tmp_path
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", "~/c")
    assert location.cache_root() == tmp_path / "c"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", "relative")
    assert location.cache_root() == tmp_path / "relative"
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", "")
    assert location.cache_root().name == "synapse-ls"


def test_every_vault_has_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Equal names are told apart; the name is for people."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path))
    folders = [location.index_folder(Path(path)) for path in ("/a/notes", "/b/notes", "/a/Żurek & co", "/")]
    assert len(set(folders)) == 4
    assert [folder.name.rpartition("-")[0] for folder in folders] == ["notes", "notes", "Żurek-co", "root"]
    assert all(folder.parent == tmp_path / "vaults" for folder in folders)
    assert len(location.index_folder(Path("/" + "x" * 200)).name) < 60


def test_vault_is_told_by_its_real_path(tmp_path: Path) -> None:
    """Two ways to one folder are one vault."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert location.vault_root(tmp_path / "link") == (tmp_path / "real").resolve()
    assert location.vault_root(tmp_path / "real/../link") == (tmp_path / "real").resolve()


def test_folder_that_is_no_vault_is_told_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do."""
    with pytest.raises(VaultError, match=r"^there is no folder .*none; give the folder that holds your notes$"):
        location.vault_root(tmp_path / "none")
    (tmp_path / "file.md").touch()
    with pytest.raises(VaultError, match=r"file.md is a file; give the folder that holds your notes$"):
        location.vault_root(tmp_path / "file.md")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(VaultError, match="loop"):
        location.vault_root(tmp_path / "loop")

    def refuse(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(VaultError, match=r"cannot be read \(Permission denied\); check its permissions$"):
        location.vault_root(tmp_path)


def test_forget_removes_the_index_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And says whether there was one."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path))
    folder = location.index_folder(Path("/v"))
    folder.mkdir(parents=True)
    (folder / "index.db").write_bytes(b"12345")
    other = location.index_folder(Path("/w"))
    other.mkdir()
    assert location.size(folder) == 5
    assert location.forget(Path("/v"))
    assert not location.forget(Path("/v"))
    assert location.size(folder) == 0
    assert other.exists()
