"""The log file in the cache."""

import stat
import threading
from pathlib import Path

import pytest

from synapse_ls.lsp import logfile


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the logs in a cache that is not there yet."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path / "new" / "cache"))
    return tmp_path / "new" / "cache" / "logs"


def mode(path: Path) -> int:
    """Return the permissions of a file or folder."""
    return stat.S_IMODE(path.stat().st_mode)


def test_the_log_is_its_owners_alone(folder: Path) -> None:
    """Files and folders, the folders above too where they were missing."""
    logfile.append("one\n")
    logfile.append("two \ud800\n")
    assert (folder / "synapse-ls.log").read_text() == "one\ntwo \\ud800\n"
    assert mode(folder / "synapse-ls.log") == 0o600
    assert [mode(path) for path in (folder, folder.parent, folder.parent.parent)] == [0o700] * 3


def test_the_log_is_turned_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it becomes too long; two older ones are kept."""
    monkeypatch.setattr(logfile, "_MAX_BYTES", 20)
    for number in range(9):
        logfile.append(f"line {number}.\n")
    files = {path.name: path.read_text() for path in folder.iterdir()}
    assert files == {
        "synapse-ls.log": "line 8.\n",
        "synapse-ls.log.1": "line 6.\nline 7.\n",
        "synapse-ls.log.2": "line 4.\nline 5.\n",
    }
    assert {mode(path) for path in folder.iterdir()} == {0o600}


def test_several_may_write_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line stays whole, and none is lost that is not the oldest."""
    monkeypatch.setattr(logfile, "_MAX_BYTES", 30_000)

    def write(name: str) -> None:
        for number in range(200):
            logfile.append(f"{name} {number:03}\n")

    writers = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(30)
    lines = [line for path in folder.iterdir() for line in path.read_text().splitlines()]
    assert sorted(lines) == [f"{name} {number:03}" for name in "abcd" for number in range(200)]


def test_a_log_that_cannot_be_written_is_an_error(folder: Path) -> None:
    """For the caller to tell."""
    folder.parent.mkdir(parents=True)
    folder.write_text("no folder")
    with pytest.raises(OSError, match="logs"):
        logfile.append("x\n")
    assert folder.read_text() == "no folder"
