"""Where indexes lie."""

import os
from pathlib import Path

import pytest
from filelock import FileLock

from synapse_ls.core.errors import IndexStateError, VaultError
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


def test_the_index_in_use_is_named_by_a_file(tmp_path: Path) -> None:
    """Another name takes its place in one step, for its owner alone."""
    assert location.current_index(tmp_path) is None
    for name in ("index-1.db", "index-27.db"):
        location.set_current(tmp_path, name)
        assert location.current_index(tmp_path) == tmp_path / name
    assert (tmp_path / location.CURRENT_NAME).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [location.CURRENT_NAME]


@pytest.mark.parametrize(
    "name", ["", "index.db", "../index-1.db", "index-1.db\nindex-2.db", "index-\u0661.db", "index-.db"]
)
def test_what_is_no_name_of_an_index_names_none(tmp_path: Path, name: str) -> None:
    """Neither from the file nor into it."""
    (tmp_path / location.CURRENT_NAME).write_text(name, encoding="utf-8")
    assert location.current_index(tmp_path) is None
    with pytest.raises(ValueError, match="no name of an index"):
        location.set_current(tmp_path, name)


def test_an_index_folder_remembers_its_vault(tmp_path: Path) -> None:
    """Whatever the name; once written, the file is left alone."""
    for root in (Path("/home/me/Żurek & co"), Path(os.fsdecode(b"/odd/\xff name\n"))):
        location.remember(tmp_path, root)
        assert location.vault_of(tmp_path) == root
    written = (tmp_path / location.VAULT_NAME).stat()
    location.remember(tmp_path, root)
    assert (tmp_path / location.VAULT_NAME).stat().st_mtime_ns == written.st_mtime_ns
    assert written.st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [None, b"", b"relative", b"/nul\0", b"C:\\"])
def test_an_index_folder_that_does_not_say_belongs_to_nobody(tmp_path: Path, content: bytes | None) -> None:
    """As those made by earlier versions."""
    if content is not None:
        (tmp_path / location.VAULT_NAME).write_bytes(content)
    assert location.vault_of(tmp_path) is None


def test_the_files_of_an_index_are_taken_from_others(tmp_path: Path) -> None:
    """Not what a link leads to, and nothing outside the folder, which may be more than ours."""
    folder, elsewhere = tmp_path / "cache" / "index", tmp_path / "elsewhere"
    folder.mkdir(parents=True)
    elsewhere.touch()
    (folder / "link").symlink_to(elsewhere)
    (folder / "index-1.db").touch()
    for path in (folder.parent, folder / "index-1.db", elsewhere):
        path.chmod(0o755)
    location.keep_private(folder)
    modes = [path.stat().st_mode & 0o777 for path in (folder / "index-1.db", folder.parent, elsewhere)]
    assert modes == [0o700, 0o755, 0o755]


def test_indexes_are_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By name; none where nothing was indexed."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path))
    assert location.index_folders() == []
    for name in ("b", "a"):
        location.index_folder(Path("/") / name).mkdir(parents=True)
    (tmp_path / "vaults/file").touch()
    assert [folder.name[0] for folder in location.index_folders()] == ["a", "b"]


def test_a_vault_that_is_gone_still_has_a_real_path(tmp_path: Path) -> None:
    """Through links too; a loop has none."""
    (tmp_path / "link").symlink_to("gone")
    assert location.real_path(tmp_path / "link/") == (tmp_path / "gone").resolve()


def test_forget_removes_the_index_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And says whether there was one."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path))
    folder = location.index_folder(Path("/v"))
    folder.mkdir(parents=True)
    (folder / "index-1.db").write_bytes(b"12345")
    (folder / "of an old format").mkdir()
    (folder / "of an old format" / "file").touch()
    (folder / "link").symlink_to(tmp_path)
    other = location.index_folder(Path("/w"))
    other.mkdir()
    assert location.size(folder) == 5
    assert location.forget(Path("/v"))
    assert not location.forget(Path("/v"))
    assert location.size(folder) == 0
    assert other.exists()


@pytest.mark.parametrize("name", [location.LOCK_NAME, location.CURRENT_NAME, "index-1.db"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_forget_removes_what_is_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, kind: str) -> None:
    """But not what a link leads to."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path))
    folder, other = location.index_folder(Path("/v")), tmp_path / "other"
    other.mkdir()
    folder.mkdir(parents=True)
    place = folder / name
    {"folder": place.mkdir, "pipe": lambda: os.mkfifo(place), "link": lambda: place.symlink_to(other)}[kind]()
    assert location.forget(Path("/v"))
    assert (folder.exists(), other.exists()) == (False, True)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_names_the_index_in_use_is_a_file(tmp_path: Path, kind: str) -> None:
    """Anything else names none, is not waited for, and gives way."""
    (tmp_path / "other").write_text("index-1.db")
    place = tmp_path / location.CURRENT_NAME
    {"folder": place.mkdir, "pipe": lambda: os.mkfifo(place), "link": lambda: place.symlink_to("other")}[kind]()
    assert location.current_index(tmp_path) is None
    location.set_current(tmp_path, "index-2.db")
    assert location.current_index(tmp_path) == tmp_path / "index-2.db"
    assert (tmp_path / "other").read_text() == "index-1.db"


def test_forget_refuses_while_a_server_writes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is removed."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path))
    folder = location.index_folder(Path("/v"))
    folder.mkdir(parents=True)
    (folder / "index-1.db").touch()
    with FileLock(folder / location.LOCK_NAME):
        with pytest.raises(IndexStateError, match="running Synapse"):
            location.forget(Path("/v"))
        assert (folder / "index-1.db").exists()
    assert location.forget(Path("/v"))
    assert not folder.exists()
