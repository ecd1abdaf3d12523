"""``synapse-ls serve``."""

import argparse
import gc
import os
import sys

from synapse_ls.core.config import Settings
from synapse_ls.lsp import logs, server

# A thread that parses or ranks lets the event loop in after this long; Python's own 5 ms would be felt.
_SWITCH_SECONDS = 0.001
# The youngest objects are looked through for cycles every so many new ones, the next every so many times of that, and
# the rest, which takes up to a tenth of a second, hardly ever: what lives long here holds no cycles.
_COLLECTIONS = (2_000, 20, 10_000)


def serve(options: argparse.Namespace) -> int:
    """Serve one editor over standard input and output, or on a loopback address; ends the process."""
    _keep_the_loop_free()
    code = _served(options)
    sys.stderr.flush()
    # All is closed. A model may still be loading in a thread, in the middle of which the interpreter would abort.
    os._exit(code)


def _keep_the_loop_free() -> None:
    """Let no other thread and no search for garbage keep the event loop waiting for long."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.set_threshold(*_COLLECTIONS)


def _served(options: argparse.Namespace) -> int:
    level = logs.LEVELS[options.log_level]
    if options.tcp is None:
        with logs.recording(level):
            return server.serve(Settings())
    from synapse_ls.lsp import tcp  # noqa: PLC0415 - an editor waits for the other way, which does not need it

    address = tcp.address(options.tcp)
    with logs.recording(level):
        return server.serve_tcp(Settings(), address)
