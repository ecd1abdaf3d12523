"""What becomes of one file."""

import io
import os
import pickle
from pathlib import Path

import pytest

from synapse_ls.indexer import worker
from synapse_ls.indexer.record import content_hash, note_record
from synapse_ls.indexer.worker import Gone, Job, Outcome, Unchanged, Unreadable, outcome, serve
from synapse_ls.store.records import FileStamp

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


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "below a file"])
def test_what_is_no_file_is_gone(tmp_path: Path, kind: str) -> None:
    """Without waiting for the other end of a pipe."""
    file = tmp_path / "a.md"
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "below a file":
        file.touch()
        file /= "b.md"
    assert outcome(job(file)) == Gone("a.md")


def test_file_that_cannot_be_read_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In words of the system."""

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert outcome(job(tmp_path / "a.md")) == Unreadable("a.md", "cannot be read (Permission denied)")


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
    got: list[Outcome] = [pickle.load(outcomes) for _ in range(3)]  # noqa: S301 - written above
    assert [(type(made).__name__, made.path) for made in got] == [
        ("Gone", "a.md"),
        ("NoteRecord", "b.md"),
        ("Gone", "c.md"),
    ]
    assert outcomes.read() == b""
