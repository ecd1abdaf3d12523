"""An open index and what keeps it equal to the notes."""

from collections.abc import Callable
from dataclasses import dataclass, field

from synapse_ls.core.model import Embedded
from synapse_ls.indexer.pipeline import Indexer
from synapse_ls.store import vectors
from synapse_ls.store.database import Index
from synapse_ls.store.inheritance import Known


@dataclass(frozen=True, slots=True)
class Kept:
    """An index, and what keeps it equal to the notes: nothing where another process does.

    ``inherited`` are the sources of vectors that it takes over; they are let go when it is complete.
    """

    index: Index
    indexer: Indexer | None = None
    inherited: list[Known] = field(default_factory=list)

    def close(self) -> None:
        """End the work and close the index once its readers have gone."""
        if self.indexer is not None:
            self.indexer.close()
        self.index.close()

    def vectors(self, fingerprint: Callable[[], str | None]) -> Known:
        """Return what gives the vectors that are held of a model; whatever is wrong, it then knows none."""

        def known(input_key: bytes) -> Embedded | None:
            model = fingerprint()
            try:
                with self.index.read() as db:
                    return None if model is None else vectors.get(db, input_key, model)
            except Exception:  # noqa: BLE001 - it is closed or damaged: the vector is made anew
                return None

        return known
