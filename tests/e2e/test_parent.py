"""The process that started the server ends: nobody is there to be served."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.editor import COMMAND, TIMEOUT, environment_of
from tests.e2e.test_lifecycle import EMPTY, converse, notification, request, responses
from tests.e2e.test_malformed import encoded


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with its input."""
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as parent:
        yield parent


def test_the_server_ends_soon_after_the_process_that_started_it(
    small: Path, cache: Path, parent: subprocess.Popen[bytes]
) -> None:
    """With exit code 1, although another process keeps its input open, and with a vault open."""
    params = {**EMPTY, "processId": parent.pid, "workspaceFolders": [{"uri": small.as_uri(), "name": "vault"}]}
    with subprocess.Popen(
        [*COMMAND, "serve"],
        env=environment_of(cache),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write(encoded(request(1, "initialize", params)) + encoded(notification("initialized", {})))
        server.stdin.flush()
        came = b""
        while b"statusChanged" not in came:
            came += os.read(server.stdout.fileno(), 65536)
        parent.kill()
        parent.wait()
        gone = time.monotonic()
        assert server.wait(TIMEOUT) == 1
        assert time.monotonic() - gone < 5
        assert server.stderr.read() == b""


@pytest.mark.parametrize("process_id", [None, 0, -1, 2**31, 2**70, "1", True, 1.5, [], {}])
def test_a_process_that_is_not_here_is_passed_over(cache: Path, process_id: object) -> None:
    """As is what is no number of a process."""
    code, received, err = converse(
        cache,
        request(1, "initialize", {**EMPTY, "processId": process_id}),
        notification("initialized", {}),
        request(2, "shutdown"),
        notification("exit"),
    )
    assert "result" in responses(received)[1]
    assert (code, err) == (0, "")
