"""An event loop that writes down when it comes to its turn: one that does nothing else, or the server's.

``python bench/ticking.py bare FILE`` ticks until its input ends. ``python bench/ticking.py serve FILE`` is
``synapse-ls serve`` with a timer on its loop that nothing in the product knows of. FILE then holds the moments of all
ticks, as doubles: seconds of the system's monotonic clock, which processes share.
"""

import asyncio
import sys
import threading
import time
from array import array
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

TICK_SECONDS = 0.001


class Ticker:
    """Asks a running loop for a call each millisecond and keeps the moments at which they came."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.moments = array("d")
        self._loop = loop
        # A timer and not a task: the server waits in the end for all tasks of its loop.
        self._timer = loop.call_later(TICK_SECONDS, self._tick)

    def stop(self) -> None:
        """Tick no more."""
        self._timer.cancel()

    def _tick(self) -> None:
        self.moments.append(time.monotonic())
        self._timer = self._loop.call_later(TICK_SECONDS, self._tick)


def moments_in(file: Path) -> "array[float]":
    """Return the moments that a ticking process wrote down."""
    moments = array("d")
    moments.frombytes(file.read_bytes())
    return moments


def tick_beside(file: Path) -> None:
    """Let every loop that ``asyncio.run`` starts in this process tick, and write the moments down in the end."""
    run = asyncio.run

    async def ticking(main: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - whatever the coroutine returns
        ticker = Ticker(asyncio.get_running_loop())
        try:
            return await main
        finally:
            ticker.stop()
            file.write_bytes(ticker.moments.tobytes())  # noqa: ASYNC240 - the loop has ended its work

    asyncio.run = lambda main, **options: run(ticking(main), **options)


async def _until_input_ends() -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def read() -> None:
        sys.stdin.buffer.read()
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read, daemon=True).start()
    await ended.wait()


def main() -> int:
    """Tick as the arguments say."""
    kind, file = sys.argv[1:]
    tick_beside(Path(file))
    if kind == "bare":
        asyncio.run(_until_input_ends())
        return 0
    from synapse_ls.cli import main as synapse  # noqa: PLC0415 - the bare loop needs none of it

    return synapse(["serve"])


if __name__ == "__main__":
    sys.exit(main())
