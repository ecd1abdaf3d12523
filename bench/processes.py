"""Memory and processor time of a process and all its descendants, from Linux's /proc."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

_PERIOD = 0.5


def family(root: int) -> list[int]:
    """Return the ids of a process and of its living descendants."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        if fields := _stat(int(folder.name)):
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [root]
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def processor_seconds(root: int) -> float:
    """Return the user and system time used so far by a process and its descendants, ended ones included."""
    ticks = sum(int(field) for pid in family(root) for field in _stat(pid)[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


class MemoryWatch:
    """Samples memory while it is entered.

    ``peak`` is the largest sum of resident memory seen at one moment, ``highest`` the sum over all processes of each
    one's own high-water mark; both in bytes, both counting shared pages once for each process.
    """

    def __init__(self, root: int) -> None:
        self.peak = 0
        self._root = root
        self._marks: dict[int, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    @property
    def highest(self) -> int:
        """The sum of the high-water marks."""
        return sum(self._marks.values())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while True:
            total = 0
            for pid in family(self._root):
                sizes = dict(_sizes(pid))
                total += sizes.get("VmRSS", 0)
                self._marks[pid] = max(self._marks.get(pid, 0), sizes.get("VmHWM", 0))
            self.peak = max(self.peak, total)
            if self._stop.wait(_PERIOD):
                return


def _stat(pid: int) -> list[str]:
    """Return what the kernel tells after a process's name, its state first; nothing if the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _sizes(pid: int) -> Iterator[tuple[str, int]]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        name, _, value = line.partition(":")
        if name in ("VmRSS", "VmHWM"):
            yield name, int(value.split()[0]) * 1024
