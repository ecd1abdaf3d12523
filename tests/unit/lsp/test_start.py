"""What a start does not wait for."""

import subprocess
import sys

import pytest

HEAVY = "apsw", "sqlite_vec", "numpy", "onnxruntime", "fastembed", "tokenizers", "markdown_it", "watchfiles", "yaml"


@pytest.mark.parametrize("module", ["synapse_ls.cli", "synapse_ls.lsp.server", "synapse_ls.cli.serving"])
def test_nothing_heavy_is_imported_before_the_first_answer(module: str) -> None:
    """The database, the parser and the model are loaded when they are asked for."""
    program = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
