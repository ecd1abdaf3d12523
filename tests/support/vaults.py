"""Vaults with an embedder whose vectors come from a hash, for tests of what can happen to an index."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from synapse_ls.core.config import EmbeddingSettings, Settings
from synapse_ls.core.model import SearchAnswer, SearchRequest
from synapse_ls.inference.pool import EmbeddingPool
from synapse_ls.vault.encoder import Encoder
from synapse_ls.vault.vault import Vault
from tests.support.indexing import PATIENCE, SPEC, HashEmbedder

if TYPE_CHECKING:
    from synapse_ls.inference.registry import ModelSpec

LARGE: "ModelSpec" = replace(SPEC, name="large", dimensions=24, fingerprint="hashed vectors of 24 numbers")
NOTES = {
    "cistern.md": "# Cistern\n\nThe cistern overflows at night. See [[rooks]].\n",
    "rooks.md": "# Rooks\n\nRooks nest above the [[cistern]].\n\n## Twigs\n\nThey carry twigs all of March. #birds\n",
    "deep/valve.md": "---\naliases: [stopcock]\n---\n# Valve\n\nTurn it clockwise. [[cistern|the tank]]\n",
}
QUESTIONS = ("cistern", "twigs in march", "stopcock", "nest above", "turn clockwise", "nothing like it")


class Hashed(Encoder):
    """An encoder that is ready at once and needs no files; None for a vault without a model."""

    def __init__(self, embedder: HashEmbedder | None) -> None:
        super().__init__(EmbeddingSettings(model="none"))
        if embedder is not None:
            self.name, self.spec, self.state, self.note = embedder.spec.name, embedder.spec, "ready", None
            self.pool = EmbeddingPool(embedder, 1)


def opened(root: Path, embedder: HashEmbedder | None = None, *, watch: bool = False) -> Vault:
    """Open a vault; close it with ``closed``."""
    vault = Vault(root, Settings(), Hashed(embedder), watch=watch)
    vault.open()
    return vault


def closed(vault: Vault) -> None:
    """Close a vault and its encoder."""
    vault.close()
    vault._encoder.close()


def settled(vault: Vault) -> None:
    """Wait until a vault is current."""
    assert vault.wait(PATIENCE), "the vault did not come to rest"


def answers(vault: Vault) -> list[tuple[object, ...]]:
    """Return what a vault answers to all questions, by words and by meaning, without what differs from run to run."""
    return [
        (hit.path, hit.range, hit.snippet.text, hit.matched_by, round(hit.score, 9))
        for question in QUESTIONS
        for hit in ask(vault, question).hits
    ]


def ask(vault: Vault, question: str) -> SearchAnswer:
    """Search a vault."""
    return vault.search(SearchRequest(question))


def until(holds: Callable[[], bool]) -> None:
    """Wait for what another thread or process brings about."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came true"
        Event().wait(0.01)
