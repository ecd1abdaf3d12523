"""Watching the process that started the server: when it is gone, nobody is there to be served."""

import asyncio
import os
from collections.abc import Callable

# How often a process is looked for where the system does not tell of its end.
_SECONDS = 5.0


class Watch:
    """Calls ``gone`` on the running event loop once a process has ended.

    What is not the id of a process that is there now is passed over: the client may have ids of its own, as in another
    container.
    """

    def __init__(self, process_id: object, gone: Callable[[], None]) -> None:
        self._gone = gone
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._descriptor: int | None = None
        if type(process_id) is not int or process_id <= 0 or not _exists(process_id):
            return
        try:
            self._descriptor = os.pidfd_open(process_id)
        except (AttributeError, OSError):  # another system, or one that does not let us
            self._look(process_id)
        else:
            self._loop.add_reader(self._descriptor, self._ended)

    def close(self) -> None:
        """Watch no more; also after the loop has closed."""
        if self._timer is not None:
            self._timer.cancel()
        if self._descriptor is not None:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None

    def _look(self, process_id: int) -> None:
        if _exists(process_id):
            self._timer = self._loop.call_later(_SECONDS, self._look, process_id)
        else:
            self._ended()

    def _ended(self) -> None:
        self.close()
        self._gone()


def _exists(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
