"""What is logged, where, and what is left out."""

import logging
import os
import threading
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from synapse_ls.core.errors import SynapseError
from synapse_ls.lsp import logs

LOG = logging.getLogger("synapse_ls.tests")


def raised(error: BaseException, cause: BaseException | None = None) -> logging.LogRecord:
    """Return the record of an error that has been raised."""
    try:
        raise error from cause
    except type(error) as caught:
        return LOG.makeRecord(LOG.name, logging.ERROR, "x", 1, "it %s", ("fails",), (type(caught), caught, None))


@pytest.mark.parametrize(
    ("error", "frank", "told"),
    [
        (ValueError("secret"), False, ["    ValueError"]),
        (ValueError("secret"), True, ["    ValueError: secret"]),
        (OSError(28, "No space left on device", "/v/a.md"), False,
         ["    OSError: [Errno 28] No space left on device: '/v/a.md'"]),
        (SynapseError("run this"), False, ["    SynapseError: run this"]),
        (SynapseError("run\nthis"), False, ["    SynapseError: run\\nthis"]),
    ],
)  # fmt: skip
def test_an_error_is_told_by_kind_and_place(error: Exception, frank: bool, told: list[str]) -> None:
    """Its own words only where they are ours or the system's, or where the level is that of debugging."""
    lines = logs.entry(raised(error), frank=frank).splitlines()
    assert lines[0].endswith(f" {os.getpid()} ERROR synapse_ls.tests: it fails")
    assert [line for line in lines[1:] if not line.startswith("      ")] == told
    assert logs.sentence(raised(error)) == f"it fails ({type(error).__name__})"


def test_errors_behind_an_error_are_told_too() -> None:
    """Each once, also if they go in a circle."""
    cause, error = KeyError("secret"), ValueError("secret")
    cause.__cause__ = error
    lines = logs.entry(raised(error, cause)).splitlines()
    assert [line.strip() for line in lines if line.startswith("    ") and line[4] != " "] == ["ValueError", "KeyError"]


def test_a_record_is_one_line_whatever_its_message() -> None:
    """A note's name may have a line end."""
    record = LOG.makeRecord(LOG.name, logging.INFO, "x", 1, "%s is skipped", ("a\nb\x1b[2J\u2028\ud800ü",), None)
    assert logs.sentence(record) == "a\\nb\\x1b[2J\\u2028\\ud800ü is skipped"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log file in a cache of its own."""
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "logs" / "synapse-ls.log"


def say_one_of_each() -> None:
    """Log at every level, and as a library."""
    for level in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR):
        LOG.log(level, "one %s", logging.getLevelName(level))
    logging.getLogger("library").info("library INFO")
    logging.getLogger("library").warning("library WARNING")


@pytest.mark.parametrize(
    ("level", "written"),
    [
        ("error", ["ERROR"]),
        ("warning", ["WARNING", "ERROR", "WARNING"]),
        ("info", ["INFO", "INFO", "WARNING", "ERROR", "WARNING", "INFO"]),
        ("debug", ["INFO", "DEBUG", "INFO", "WARNING", "ERROR", "WARNING", "INFO"]),
    ],
)
def test_the_file_has_what_its_level_lets_through(
    file: Path, capsys: pytest.CaptureFixture[str], level: str, written: list[str]
) -> None:
    """Standard error has the warnings, whatever the level; the loggers are as before in the end."""
    before = logging.getLogger().handlers[:]
    with logs.recording(logs.LEVELS[level]):
        say_one_of_each()
    assert [line.split(" ")[2] for line in file.read_text().splitlines()] == written
    assert capsys.readouterr().err.splitlines() == [
        "synapse-ls: one WARNING", "synapse-ls: one ERROR", "synapse-ls: library WARNING",
    ]  # fmt: skip
    assert logging.getLogger().handlers == before


def test_the_first_line_names_the_versions(file: Path) -> None:
    """And the last one says that this was all."""
    with logs.recording(logging.INFO):
        pass
    first, last = file.read_text().splitlines()
    assert "synapse-ls" in first
    assert "Python 3." in first
    assert last.endswith("synapse-ls ends")


def test_a_log_that_cannot_be_written_is_told_once(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What else there is to say is said."""
    file.parent.parent.write_text("no folder")
    with logs.recording(logging.INFO):
        say_one_of_each()
        say_one_of_each()
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "SYNAPSE_CACHE_DIR" in line] == [lines[0]]
    assert lines.count("synapse-ls: one ERROR") == 2


def failing() -> None:
    """Fail with words that nobody should read."""
    raise ValueError("secret")


def test_an_error_that_nobody_caught_is_logged(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a thread, by kind and place."""
    with logs.recording(logging.INFO):
        thread = threading.Thread(target=failing)
        thread.start()
        thread.join(20)
    err = capsys.readouterr().err
    assert err == "synapse-ls: an error that nobody caught (ValueError)\n"
    assert "failing" in file.read_text()
    assert "secret" not in file.read_text()


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([("synapse_ls.x", logging.DEBUG, "x")], []),
        ([("synapse_ls.x", logging.INFO, "x")], [(lsp.MessageType.Info, "x")]),
        ([("synapse_ls.x", logging.WARNING, "x")], [(lsp.MessageType.Warning, "x")]),
        ([("synapse_ls.x", logging.CRITICAL, "x")], [(lsp.MessageType.Error, "x")]),
        ([("synapse_ls.x", logging.INFO, text) for text in "xyx"],
         [(lsp.MessageType.Info, "x"), (lsp.MessageType.Info, "y")]),
        ([("library", logging.ERROR, "x")], []),
    ],
)  # fmt: skip
def test_what_the_client_is_told(
    file: Path, records: list[tuple[str, int, str]], told: list[tuple[lsp.MessageType, str]]
) -> None:
    """Our own loggers' lines at INFO and above, each once, whatever the file takes."""
    came: list[tuple[lsp.MessageType, str]] = []
    with logs.recording(logging.CRITICAL), logs.telling(lambda params: came.append((params.type, params.message))):
        for name, level, text in records:
            logging.getLogger(name).log(level, text)
    LOG.error("after the end")
    assert came == told
    assert file.exists() is any(level == logging.CRITICAL for _, level, _ in records)


def test_the_client_is_not_flooded(file: Path) -> None:
    """Lines that all differ end at a thousand."""
    came: list[str] = []
    with logs.recording(logging.ERROR), logs.telling(lambda params: came.append(params.message)):
        for number in range(5000):
            LOG.info("line %d", number)
    assert came == [f"line {number}" for number in range(1000)]
    assert not file.exists()
