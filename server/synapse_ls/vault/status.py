"""What a vault tells of itself."""

from dataclasses import dataclass
from typing import Literal

VaultState = Literal["starting", "indexing", "ready", "readOnly", "failed"]
RerankerState = Literal["off", "loading", "ready", "missing", "failed"]


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """The encoder: ``state`` is ready, loading, missing or failed, ``note`` why."""

    name: str
    dimensions: int
    languages: str
    state: str
    note: str | None


@dataclass(frozen=True, slots=True)
class RerankerStatus:
    """The reranker: ``state`` is off, loading, ready, missing or failed, ``note`` why; without a name it is off."""

    name: str | None = None
    state: RerankerState = "off"
    note: str | None = None


@dataclass(frozen=True, slots=True)
class VaultStatus:
    """One vault's state.

    ``pending`` counts files queued and chunks that lack a vector, ``embedded`` chunks whose vector is current or that
    need none. ``skipped`` holds (path, reason). Counters count since the start.
    """

    root: str
    state: VaultState
    generation: int
    notes: int
    chunks: int
    embedded: int
    pending: int
    skipped: tuple[tuple[str, str], ...]
    model: ModelStatus
    files_read: int
    chunks_embedded: int
    chunks_reused: int
    searches: int
    error: str | None
    cache_bytes: int

    @classmethod
    def starting(cls, root: str, model: str) -> "VaultStatus":
        """Return the status of a vault that is not open yet."""
        loading = ModelStatus(model, 0, "", "loading", None)
        return cls(root, "starting", 0, 0, 0, 0, 0, (), loading, 0, 0, 0, 0, None, 0)
