"""``synapse-ls serve``."""

import argparse

from synapse_ls.core.config import Settings
from synapse_ls.lsp import server


def serve(_options: argparse.Namespace) -> int:
    """Serve one editor over standard input and output."""
    return server.serve(Settings())
