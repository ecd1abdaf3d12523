"""The process that started the server is watched."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from synapse_ls.lsp import parent
from synapse_ls.lsp.parent import Watch

pytestmark = pytest.mark.asyncio


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with its input."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        yield child


def refused(_process_id: int) -> int:
    """Stand in for a system that does not let us watch."""
    raise PermissionError


@pytest.mark.parametrize("polling", [False, True])
async def test_the_end_of_a_process_is_told(
    child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, polling: bool
) -> None:
    """Once, by the system or by looking."""
    if polling:
        monkeypatch.setattr(os, "pidfd_open", refused)
        monkeypatch.setattr(parent, "_SECONDS", 0.01)
    gone = asyncio.Event()
    watch = Watch(child.pid, gone.set)
    child.kill()
    await asyncio.to_thread(child.wait)
    async with asyncio.timeout(10):
        await gone.wait()
    watch.close()


def _ended() -> int:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


@pytest.mark.parametrize("process_id", [None, 0, -1, -(10**30), 10**30, True, "1", 1.0, [], _ended()])
async def test_what_is_no_process_here_is_passed_over(process_id: object) -> None:
    """As of a client in another container."""
    told: list[bool] = []
    watch = Watch(process_id, lambda: told.append(True))
    await asyncio.sleep(0)
    watch.close()
    assert told == []


async def test_a_watch_can_be_ended_twice(child: subprocess.Popen[bytes]) -> None:
    """Nothing is told afterwards."""
    told: list[bool] = []
    watch = Watch(child.pid, lambda: told.append(True))
    watch.close()
    watch.close()
    child.kill()
    await asyncio.to_thread(child.wait)
    await asyncio.sleep(0)
    assert told == []
