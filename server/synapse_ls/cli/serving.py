"""``synapse-ls serve``."""

import argparse
import os
import sys

from synapse_ls.core.config import Settings
from synapse_ls.lsp import logs, server


def serve(options: argparse.Namespace) -> int:
    """Serve one editor over standard input and output, or on a loopback address; ends the process."""
    code = _served(options)
    sys.stderr.flush()
    # All is closed. A model may still be loading in a thread, in the middle of which the interpreter would abort.
    os._exit(code)


def _served(options: argparse.Namespace) -> int:
    level = logs.LEVELS[options.log_level]
    if options.tcp is None:
        with logs.recording(level):
            return server.serve(Settings())
    from synapse_ls.lsp import tcp  # noqa: PLC0415 - an editor waits for the other way, which does not need it

    address = tcp.address(options.tcp)
    with logs.recording(level):
        return server.serve_tcp(Settings(), address)
