"""What becomes of one file."""

import errno
import io
import os
import pickle
from pathlib import Path

import pytest

from synapse_ls.indexer import worker
from synapse_ls.indexer.record import content_hash, note_record
from synapse_ls.indexer.worker import LENGTH, Gone, Job, Outcome, Unchanged, Unreadable, outcome, serve
from synapse_ls.store.records import FileStamp, NoteRecord
from tests.support.indexing import make_socket

DATA = b"# Alpha\n\nwords"


def job(file: Path, known: bytes | None = None, max_bytes: int = 1 << 20) -> Job:
    """Return a job for a file that the vault calls ``a.md``."""
    return Job("a.md", str(file), known, max_bytes)


def test_new_file_is_a_record(tmp_path: Path) -> None:
    """With the file's own time."""
    file = tmp_path / "a.md"
    file.write_bytes(DATA)
    os.utime(file, ns=(9, 9))
    assert outcome(job(file)) == note_record("a.md", DATA, 9, 1 << 20)


def test_known_bytes_are_unchanged(tmp_path: Path) -> None:
    """They are hashed and not parsed."""
    file = tmp_path / "a.md"
    file.write_bytes(DATA)
    os.utime(file, ns=(9, 9))
    known = content_hash(DATA, len(DATA))
    assert outcome(job(file, known)) == Unchanged("a.md", FileStamp(len(DATA), 9, known))


def test_large_file_is_read_to_its_limit_and_known_by_it(tmp_path: Path) -> None:
    """The rest is named by its length alone."""
    file = tmp_path / "a.md"
    file.write_bytes(DATA * 1000)
    made = outcome(job(file, None, 1024))
    assert made == note_record("a.md", (DATA * 1000)[:1024], file.stat().st_mtime_ns, 1024, len(DATA) * 1000)
    known = content_hash((DATA * 1000)[:1024], len(DATA) * 1000)
    assert isinstance(outcome(job(file, known, 1024)), Unchanged)


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "socket", "below a file"])
def test_what_is_no_file_is_gone(tmp_path: Path, kind: str) -> None:
    """Without waiting for the other end of a pipe."""
    file = tmp_path / "a.md"
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "socket":
        make_socket(file)
    elif kind == "below a file":
        file.touch()
        file /= "b.md"
    assert outcome(job(file)) == Gone("a.md")


def test_file_that_cannot_be_read_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In words of the system."""
    (tmp_path / "a.md").touch()

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert outcome(job(tmp_path / "a.md")) == Unreadable("a.md", "cannot be read (Permission denied)")


@pytest.mark.parametrize(
    ("number", "passing"),
    [
        (errno.EIO, True),
        (errno.ESTALE, True),
        (errno.ENOTCONN, True),
        (errno.ETIMEDOUT, True),
        (errno.EHOSTDOWN, True),
        (errno.ENETDOWN, True),
        (errno.EMFILE, True),
        (errno.ENOMEM, True),
        (errno.EACCES, False),
        (errno.EPERM, False),
        (errno.ELOOP, False),
        (errno.ENAMETOOLONG, False),
    ],
)
@pytest.mark.parametrize("call", ["open", "fstat", "pread"])
def test_fault_that_passes_is_told_from_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, *, passing: bool
) -> None:
    """Whether the file cannot be opened or fails while it is read."""
    (tmp_path / "a.md").write_bytes(DATA)

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, fail)
    made = outcome(job(tmp_path / "a.md"))
    monkeypatch.undo()
    assert made == Unreadable("a.md", f"cannot be read ({os.strerror(number)})", passing)


def test_file_that_is_written_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes out is the whole new text with its own time."""
    file = tmp_path / "a.md"
    file.write_bytes(DATA)
    os.utime(file, ns=(9, 9))
    pread = os.pread
    later = [b"half", b"# Beta\n\nmore words"]

    def written_meanwhile(opened: int, count: int, offset: int) -> bytes:
        data = pread(opened, count, offset)
        if later and not data:
            file.write_bytes(later.pop(0))
            os.utime(file, ns=(20 - len(later), 20 - len(later)))
        return data

    monkeypatch.setattr(os, "pread", written_meanwhile)
    assert outcome(job(file)) == note_record("a.md", b"# Beta\n\nmore words", 20, 1 << 20)


@pytest.mark.parametrize("max_bytes", [20, 1 << 20])
def test_file_that_never_rests_gets_a_time_that_the_next_walk_finds_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_bytes: int
) -> None:
    """Content and hash are of what was read last, the time is not that of what was written since."""
    file = tmp_path / "a.md"
    file.write_bytes(DATA * 3)
    os.utime(file, ns=(9, 9))
    pread = os.pread
    times: list[int] = []
    read = b""

    def written_meanwhile(opened: int, count: int, offset: int) -> bytes:
        nonlocal read
        before = file.stat().st_mtime_ns
        data = pread(opened, count, offset)
        read = read[:offset] + data
        if offset == 0:
            times.append(before)
            file.write_bytes(DATA[: len(times)] + DATA)
            os.utime(file, ns=(before + 1, before + 1))
        return data

    monkeypatch.setattr(os, "pread", written_meanwhile)
    made = outcome(job(file, None, max_bytes))
    assert times == [9, 10, 11, 12]
    assert isinstance(made, NoteRecord)
    assert (made.mtime_ns, made.hash) == (12, content_hash(read, made.size))
    assert file.stat().st_mtime_ns == 13


def test_file_that_shrank_while_it_was_read_is_as_long_as_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hash is the one that the same bytes always have."""
    file = tmp_path / "a.md"
    file.write_bytes(DATA)
    known = content_hash(DATA[:5], 5)
    monkeypatch.setattr(os, "pread", lambda _file, count, offset: DATA[:5][offset : offset + count])
    made = outcome(job(file, known))
    assert made == Unchanged("a.md", FileStamp(5, file.stat().st_mtime_ns, known))


def test_note_that_breaks_the_parser_is_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One note never stops the others."""
    (tmp_path / "a.md").write_bytes(DATA)

    def fail(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(worker, "note_record", fail)
    assert outcome(job(tmp_path / "a.md")) == Unreadable("a.md", "cannot be parsed (RecursionError: too deep)")


def test_serve_answers_in_order_until_its_input_ends(tmp_path: Path) -> None:
    """One outcome a job."""
    (tmp_path / "b.md").write_bytes(DATA)
    jobs, outcomes = io.BytesIO(), io.BytesIO()
    for name in ("a", "b", "c"):
        pickle.dump(Job(f"{name}.md", str(tmp_path / f"{name}.md"), None, 100), jobs)
    jobs.seek(0)
    serve(jobs, outcomes)
    outcomes.seek(0)
    got: list[Outcome] = []
    for _ in range(3):
        length = int.from_bytes(outcomes.read(LENGTH), "little")
        got.append(pickle.loads(outcomes.read(length)))  # noqa: S301 - written above
    assert [(type(made).__name__, made.path) for made in got] == [
        ("Gone", "a.md"),
        ("NoteRecord", "b.md"),
        ("Gone", "c.md"),
    ]
    assert outcomes.read() == b""
