"""No network is needed: the same answers in a namespace that has none."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.editor import paths, run, serving

UNSHARE = shutil.which("unshare")
ALONE = [UNSHARE or "unshare", "-rn"]


def permitted() -> bool:
    """Return whether this system lets us make a network namespace."""
    return UNSHARE is not None and subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode == 0


pytestmark = [
    pytest.mark.network,
    pytest.mark.skipif(not permitted(), reason="the system permits no network namespaces (unshare -rn)"),
]


@pytest.fixture
def online(small: Path, tmp_path: Path) -> list[dict[str, object]]:
    """What the command line answers outside."""
    hits: list[dict[str, object]] = run(tmp_path / "online", "search", small, QUERY, "--json").json["hits"]
    return hits


QUERY = "the automobile would not start"


def test_there_is_no_network_inside() -> None:
    """Not even the way to this machine itself."""
    probe = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    done = subprocess.run([*ALONE, "python3", "-c", probe], capture_output=True, check=False)
    assert b"Network is unreachable" in done.stderr


def test_the_command_line_gives_the_same_answer_with_an_empty_cache(
    small: Path, cache: Path, online: list[dict[str, object]]
) -> None:
    """Indexed and searched by meaning, to the last digit of the score."""
    ran = run(cache, "search", small, QUERY, "--json", prefix=ALONE)
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["legs"]["semantic"]["state"] == "ok"
    assert ran.json["hits"] == online
    assert online[0]["path"] == "Car.md"


@pytest.mark.asyncio(loop_scope="session")
async def test_the_server_gives_the_same_answer_with_an_empty_cache(
    small: Path, cache: Path, online: list[dict[str, object]]
) -> None:
    """The model loads, the notes are embedded, the question is answered."""
    async with serving([small], cache, prefix=ALONE) as editor:
        await editor.settled()
        answer = await editor.search(QUERY)
    assert answer["legs"]["semantic"]["state"] == "ok"
    assert paths(small, answer) == [hit["path"] for hit in online]
    assert [hit["score"] for hit in answer["hits"]] == [hit["score"] for hit in online]
