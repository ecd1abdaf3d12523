"""The parsing child process: a real one."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from synapse_ls.indexer import parsing
from synapse_ls.indexer.parsing import ParserProcess
from synapse_ls.indexer.record import content_hash
from synapse_ls.indexer.worker import Gone, Job, Unchanged, Unreadable
from synapse_ls.store.records import NoteRecord
from tests.support.indexing import write

PATIENCE = 20.0
# A worker that dies at notes called so, as one would at a note that breaks the interpreter.
FRAGILE = """
import os, sys
from synapse_ls.indexer import worker
whole = worker.outcome
def outcome(job, limit):
    if "deadly" in job.path:
        os._exit(1)
    if "noisy" in job.path:
        print("a library that prints")
    return whole(job, limit)
worker.outcome = outcome
worker.main()
"""


# A worker that stops, is lost in a text, waits for a file, or answers something else at notes called so.
FAULTY = """
import os, signal, sys, time
from synapse_ls.indexer import worker
worker.READ_SECONDS = 0.2
worker.PARSE_SECONDS = 0.2
pread, whole, record = os.pread, worker.outcome, worker.note_record
def waits(file, count, offset):
    if "hanging" in os.readlink(f"/proc/self/fd/{file}"):
        time.sleep(1000)
    return pread(file, count, offset)
def lost(path, *rest):
    while "endless" in path:
        pass
    return record(path, *rest)
def outcome(job, limit):
    if "stopped" in job.path:
        os.kill(os.getpid(), signal.SIGSTOP)
    if "garbage" in job.path:
        os.write(3, b"\\x07" + bytes(7) + b"garbage" + os.urandom(1000))
    if "endless length" in job.path:
        os.write(3, b"\\xff" * 8)
    if "stranger" in job.path:
        return worker.Gone("other.md")
    if "nothing" in job.path:
        return None
    return whole(job, limit)
os.pread, worker.outcome, worker.note_record = waits, outcome, lost
os.dup = lambda _: os.dup2(1, 3)
worker.main()
"""


def jobs(root: Path, paths: list[str], known: bytes | None = None) -> list[Job]:
    """Return a job for each path."""
    return [Job(path, str(root / path), known, 1 << 20) for path in paths]


@pytest.fixture
def parser() -> Iterator[ParserProcess]:
    """Give a parser that is closed afterwards."""
    with closing(ParserProcess()) as made:
        yield made


def until(holds: Callable[[], bool]) -> None:
    """Wait for what another process brings about."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came true"
        threading.Event().wait(0.01)


def test_outcomes_come_in_order_and_of_every_kind(tmp_path: Path, parser: ParserProcess) -> None:
    """More jobs than are on their way at once; each kind passes from process to process."""
    paths = [f"n{number:02}.md" for number in range(50)]
    write(tmp_path, {path: f"# {path}" for path in paths if path != "n07.md"})
    made = list(parser.parse(jobs(tmp_path, paths)))
    assert [found.path for found in made] == paths
    assert made[7] == Gone("n07.md")
    assert all(isinstance(found, NoteRecord) for found in made[:7] + made[8:])
    data = b"# n01.md"
    (same,) = parser.parse(jobs(tmp_path, ["n01.md"], content_hash(data, len(data))))
    assert isinstance(same, Unchanged)
    (loop,) = parser.parse([Job("loop.md", "\0", None, 1)])
    assert isinstance(loop, Unreadable)


def test_child_runs_at_low_priority_and_stays_for_the_next_files(tmp_path: Path, parser: ParserProcess) -> None:
    """It is started once, when it is first needed."""
    write(tmp_path, {"a.md": "x"})
    list(parser.parse(jobs(tmp_path, ["a.md"])))
    assert parser._process is not None
    child = parser._process.pid
    assert os.getpriority(os.PRIO_PROCESS, child) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)
    list(parser.parse(jobs(tmp_path, ["a.md"])))
    assert parser._process.pid == child


def test_nothing_is_imported_from_the_current_folder(
    tmp_path: Path, parser: ParserProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A vault may hold a ``pickle.py``."""
    write(tmp_path, {"pickle.py": "raise SystemExit", "yaml.py": "raise SystemExit", "a.md": "x"})
    monkeypatch.chdir(tmp_path)
    (made,) = parser.parse(jobs(tmp_path, ["a.md"]))
    assert isinstance(made, NoteRecord)


def test_killed_child_is_replaced_and_no_outcome_is_lost(tmp_path: Path, parser: ParserProcess) -> None:
    """Whatever was on its way is sent again, in order."""
    paths = [f"n{number:02}.md" for number in range(40)]
    write(tmp_path, dict.fromkeys(paths, "x"))
    made: list[str] = []
    for found in parser.parse(jobs(tmp_path, paths)):
        assert isinstance(found, NoteRecord)
        made.append(found.path)
        if len(made) in (5, 20):
            assert parser._process is not None
            os.kill(parser._process.pid, signal.SIGKILL)
    assert made == paths


def test_deadly_note_comes_out_unreadable_and_the_others_whole(
    tmp_path: Path, parser: ParserProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note that ends the child is tried twice."""
    monkeypatch.setattr(parsing, "_COMMAND", FRAGILE)
    paths = ["a.md", "deadly.md", "b.md", "noisy.md", "also deadly.md"]
    write(tmp_path, dict.fromkeys(paths, "x"))
    made = list(parser.parse(jobs(tmp_path, paths)))
    assert [found.path for found in made] == paths
    assert [isinstance(found, NoteRecord) for found in made] == [True, False, True, True, False]
    assert made[1] == Unreadable("deadly.md", "the parser stopped at this note")


STOPPED = "the parser stopped at this note"


@pytest.mark.skipif(sys.platform != "linux", reason="the faulty worker looks up what it reads in /proc")
@pytest.mark.parametrize(
    ("name", "reason", "passing"),
    [
        ("stopped.md", STOPPED, False),
        ("endless.md", STOPPED, False),
        ("garbage.md", STOPPED, False),
        ("endless length.md", STOPPED, False),
        ("stranger.md", STOPPED, False),
        ("nothing.md", STOPPED, False),
        ("hanging.md", "cannot be read (no answer within 30 seconds)", True),
    ],
)
def test_faulty_child_costs_one_note_and_leaves_nothing_behind(  # noqa: PLR0913 - the fixtures and the case
    tmp_path: Path, parser: ParserProcess, monkeypatch: pytest.MonkeyPatch, name: str, reason: str, *, passing: bool
) -> None:
    """Whatever it does; a file that hangs is worth another try later."""
    monkeypatch.setattr(parsing, "_COMMAND", FAULTY)
    monkeypatch.setattr(parsing, "_PATIENCE", 2.0)
    write(tmp_path, dict.fromkeys(["a.md", name, "z.md"], "x"))
    made = list(parser.parse(jobs(tmp_path, ["a.md", name, "z.md"])))
    assert [found.path for found in made] == ["a.md", name, "z.md"]
    assert made[1] == Unreadable(name, reason, passing)
    assert [type(made[0]), type(made[2])] == [NoteRecord, NoteRecord]
    assert len(children()) == 1
    parser.close()
    assert children() == []


def test_two_hundred_deaths_leak_nothing(
    tmp_path: Path, parser: ParserProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither handles nor processes that wait to be collected."""
    monkeypatch.setattr(parsing, "_COMMAND", "import os; os._exit(1)")
    handles = len(list(Path("/dev/fd").iterdir()))
    made = list(parser.parse(jobs(tmp_path, ["a.md"] * 100)))
    assert made == [Unreadable("a.md", STOPPED)] * 100
    assert len(list(Path("/dev/fd").iterdir())) == handles
    assert children() == []


def test_long_paths_do_not_wait_for_each_other(tmp_path: Path, parser: ParserProcess) -> None:
    """Jobs that fill the one pipe while outcomes fill the other would wait for ever."""
    folder = "/".join(["d" * 200] * 12)
    paths = [f"{folder}/n{number:02}.md" for number in range(40)]
    write(tmp_path, dict.fromkeys(paths, "words and more words\n\n" * 600))
    assert [found.path for found in parser.parse(jobs(tmp_path, paths))] == paths


@pytest.mark.skipif(sys.platform != "linux", reason="the faulty worker looks up what it reads in /proc")
def test_parse_that_is_cancelled_does_not_wait_for_a_child_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of a server is not held up by one file."""
    monkeypatch.setattr(parsing, "_COMMAND", FAULTY)
    write(tmp_path, dict.fromkeys(["a.md", "stopped.md", "z.md"], "x"))
    cancelled = threading.Event()
    with closing(ParserProcess(cancelled.is_set)) as parser:
        outcomes = parser.parse(jobs(tmp_path, ["a.md", "stopped.md", "z.md"]))
        assert next(outcomes).path == "a.md"
        cancelled.set()
        started = time.monotonic()
        assert list(outcomes) == []
        assert time.monotonic() - started < PATIENCE / 2
        assert children() == []


def test_child_that_the_system_does_not_end_has_no_second_beside_it(
    tmp_path: Path, parser: ParserProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an error that passes when the child ends at last."""
    write(tmp_path, {"a.md": "x"})
    list(parser.parse(jobs(tmp_path, ["a.md"])))
    child = parser._process
    assert child is not None
    os.kill(child.pid, signal.SIGSTOP)
    monkeypatch.setattr(parsing, "_PATIENCE", 0.0)
    monkeypatch.setattr(parsing, "_KILL_SECONDS", 0.0)
    monkeypatch.setattr(child, "kill", lambda: None)
    with pytest.raises(OSError, match="a file that hangs holds the parser up"):
        list(parser.parse(jobs(tmp_path, ["a.md"])))
    with pytest.raises(OSError, match="a file that hangs holds the parser up"):
        list(parser.parse(jobs(tmp_path, ["a.md"])))
    assert parser._process is child
    monkeypatch.undo()
    assert [type(found) for found in parser.parse(jobs(tmp_path, ["a.md"]))] == [NoteRecord]


def test_child_that_never_starts_leaves_every_note_unreadable(
    tmp_path: Path, parser: ParserProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installation that is broken ends in words, not in a loop."""
    monkeypatch.setattr(parsing, "_COMMAND", "raise SystemExit(3)")
    assert list(parser.parse(jobs(tmp_path, ["a.md", "b.md"]))) == [
        Unreadable("a.md", "the parser stopped at this note"),
        Unreadable("b.md", "the parser stopped at this note"),
    ]


def test_parsing_that_is_left_early_does_not_mix_up_the_next(tmp_path: Path, parser: ParserProcess) -> None:
    """Outcomes still on their way belong to nobody."""
    paths = [f"n{number:02}.md" for number in range(20)]
    write(tmp_path, dict.fromkeys([*paths, "other.md"], "x"))
    left = parser.parse(jobs(tmp_path, paths))
    assert next(iter(left)).path == "n00.md"
    left.close()  # type: ignore[attr-defined]  # a generator
    assert [found.path for found in parser.parse(jobs(tmp_path, ["other.md"]))] == ["other.md"]


def test_close_ends_the_child_and_may_be_repeated(tmp_path: Path) -> None:
    """A closed parser can even start again."""
    parser = ParserProcess()
    write(tmp_path, {"a.md": "x"})
    list(parser.parse(jobs(tmp_path, ["a.md"])))
    child = parser._process
    assert child is not None
    parser.close()
    parser.close()
    assert child.returncode is not None
    assert len(list(parser.parse(jobs(tmp_path, ["a.md"])))) == 1
    parser.close()


def children() -> list[int]:
    """Return our own child processes that parse, those that wait to be collected among them."""
    listed = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True)
    rows = (line.split(None, 2) for line in listed.stdout.splitlines())
    mine = [(int(pid), words) for pid, parent, words in rows if int(parent) == os.getpid()]
    return [pid for pid, words in mine if " -I -c " in words or "defunct" in words]


def test_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    """A server that is killed leaves nothing behind."""
    write(tmp_path, {"a.md": "x"})
    script = (
        "import sys, time\n"
        "from synapse_ls.indexer.parsing import ParserProcess\n"
        "from synapse_ls.indexer.worker import Job\n"
        "parser = ParserProcess()\n"
        f"list(parser.parse([Job('a.md', {str(tmp_path / 'a.md')!r}, None, 100)]))\n"
        "print(parser._process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.kill()
    until(lambda: not alive(child))


def alive(process: int) -> bool:
    """Return whether a process is there and not only waiting to be collected."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
