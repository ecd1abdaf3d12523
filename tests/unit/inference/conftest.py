"""The real bundled model, loaded once for all tests of this folder."""

from typing import TYPE_CHECKING

import pytest

from synapse_ls.inference.embedder import Embedder, load

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def embedder() -> "Iterator[Embedder]":
    """Give the bundled encoder, loaded with every way to the network closed to fastembed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield load("bundled")
