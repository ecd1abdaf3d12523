"""The cache holds the text of notes: it is its owner's alone, and can be forgotten."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from synapse_ls.vault import location
from tests.e2e.conftest import SMALL
from tests.e2e.editor import fingerprint, run, run_beside, serving, write

LOOSE = ("sh", "-c", 'umask 000; exec "$0" "$@"')


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A small vault, whose notes nothing may touch."""
    folder = write(tmp_path / "vault", SMALL)
    before = fingerprint(folder)
    yield folder
    if folder.exists():
        assert fingerprint(folder) == before


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that is not there yet, also for this process."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def modes(cache: Path) -> dict[str, str]:
    """Return the kind and mode of everything below the cache folder."""
    found = {path.relative_to(cache).as_posix(): stat.filemode(path.lstat().st_mode) for path in cache.rglob("*")}
    return {path: mode for path, mode in found.items() if mode not in ("drwx------", "-rw-------")}


def loosen(root: Path) -> None:
    """Make what a careless version may have left of a vault."""
    folder = location.index_folder(root.resolve())
    write(folder, {"index.db": "of an old format"})
    folder.parent.chmod(0o700)
    for path in (folder, folder / "index.db"):
        path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.mark.asyncio
async def test_everything_in_the_cache_is_for_its_owner_alone(root: Path, cache: Path) -> None:
    """Under an open umask, while a server runs and after it; what was loose before is mended."""
    loosen(root)
    async with serving([root], cache, prefix=LOOSE) as editor:
        await editor.settled()
        assert (await editor.search("dough"))["hits"]
        assert (await run_beside(cache, "search", root, "dough")).code == 0
        assert any(path.endswith("-wal") for path in fingerprint(cache))
        assert modes(cache) == {}
    assert run(cache, "index", root, prefix=LOOSE).code == 0
    assert run(cache, "search", root, "dough", prefix=LOOSE).code == 0
    assert modes(cache) == {}


def test_a_new_cache_is_private_under_an_open_umask(root: Path, cache: Path) -> None:
    """The cache folder itself too, and those above it that are made."""
    deep = cache / "not" / "yet"
    assert run(deep, "index", root, prefix=LOOSE).code == 0
    assert modes(cache.parent / "cache") == {}
    assert stat.filemode(cache.stat().st_mode) == "drwx------"


@pytest.mark.asyncio
async def test_forget_is_refused_while_a_server_keeps_the_index(root: Path, cache: Path) -> None:
    """One sentence, and nothing is removed; afterwards it is."""
    async with serving([root], cache) as editor:
        await editor.settled()
        ran = await run_beside(cache, "forget", root)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == "synapse-ls: a running Synapse keeps this index; close your editor first\n"
        assert (await editor.search("dough"))["hits"]
    assert run(cache, "forget", root).code == 0
    assert list((cache / "vaults").iterdir()) == []


@pytest.mark.parametrize("way", ["as it is", "trailing slash", "relative", "dots", "link", "here", "gone", "gone link"])
def test_forget_takes_any_path_of_a_vault(root: Path, cache: Path, way: str) -> None:
    """Also of one that is no longer there; leftovers of old formats go too."""
    assert run(cache, "search", root, "dough", "--mode", "lexical").code == 0
    folder = location.index_folder(root.resolve())
    write(folder, {"index.db": "old", "index.db-wal": "old", "segments/1.bin": "older"})
    link = root.parent / "link"
    link.symlink_to(root.name)
    path = {
        "as it is": str(root),
        "trailing slash": f"{root}/",
        "relative": root.name,
        "dots": f"{root}/Trips/..",
        "link": f"{link}/",
        "here": "",
        "gone": str(root),
        "gone link": str(link),
    }[way]
    if way.startswith("gone"):
        root.rename(root.parent / "moved")
    ran = run(cache, "forget", *filter(None, [path]), "--json", cwd=root if way == "here" else root.parent)
    assert (ran.code, ran.json, ran.err) == (0, {"removed": True}, "")
    assert list((cache / "vaults").iterdir()) == []
    assert fingerprint(root.parent / "moved" if way.startswith("gone") else root).keys() == SMALL.keys()


def test_forget_leaves_other_vaults_alone(root: Path, cache: Path, tmp_path: Path) -> None:
    """And follows no link out of the index folder."""
    other = write(tmp_path / "other" / "vault", SMALL)
    for vault in (root, other):
        assert run(cache, "search", vault, "dough", "--mode", "lexical").code == 0
    (location.index_folder(root.resolve()) / "link").symlink_to(other, target_is_directory=True)
    before = fingerprint(location.index_folder(other.resolve()))
    assert run(cache, "forget", root).code == 0
    assert fingerprint(location.index_folder(other.resolve())) == before
    assert fingerprint(other).keys() == SMALL.keys()


def test_a_path_that_cannot_be_a_folder_is_refused_by_forget(cache: Path, tmp_path: Path) -> None:
    """In one line."""
    (tmp_path / "loop").symlink_to("loop")
    ran = run(cache, "forget", tmp_path / "loop" / "x")
    assert ran.code in (0, 2)
    assert "Traceback" not in ran.err
    assert not os.path.exists(cache)  # noqa: PTH110 - a loop cannot be asked otherwise
