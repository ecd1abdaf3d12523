"""Memory that goes back to the system: how the C library keeps what onnxruntime and SQLite have freed."""

import ctypes
from contextlib import suppress

# glibc's numbers of its settings, as in malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_LARGE_BYTES = 1024 * 1024
# What an arena may keep at its end: less of it, and every search asks the system for its memory anew.
_KEPT_BYTES = 8 * 1024 * 1024
_ARENAS = 2


def give_back() -> None:
    """Let large blocks go back to the system when they are freed, and threads share arenas; for the whole process.

    By itself glibc raises the size from which that holds with every block freed, to 32 MiB, and gives each thread an
    arena of its own, so that a server that embeds for hours only grows. Does nothing where there is no glibc.
    """
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
        libc.mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
        libc.mallopt(_ARENA_MAX, _ARENAS)
