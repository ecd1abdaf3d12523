"""An index to write into."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from synapse_ls.store.database import Connection, Index


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Connection]:
    """Give the writer of a new index inside a transaction."""
    index = Index(tmp_path / "index" / "index.db")
    with index.write() as connection:
        yield connection
    index.close()
