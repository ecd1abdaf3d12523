"""A model in a folder of the user's own: ``model.onnx``, ``tokenizer.json`` and ``config.json``."""

import json
from pathlib import Path
from typing import Any, Final

from synapse_ls.core.errors import ModelError, ModelMissingError
from synapse_ls.inference import installed
from synapse_ls.inference.registry import ModelSpec, identified

WEIGHTS: Final = "model.onnx"
_NEEDED: Final = (WEIGHTS, installed.TOKENIZER, "config.json")
_MAX_TOKENS: Final = 512
_SMALL_BYTES: Final = 1 << 20


def is_folder(name: str) -> bool:
    """Return whether a model's name is that of a folder: a full path, or one that begins in the home folder."""
    return name.startswith("~") or Path(name).is_absolute()


def described(name: str) -> ModelSpec:
    """Return what the files in a folder say of a model, without its fingerprint: that takes reading all of it.

    Pooling and prefixes are taken from the small files that sentence-transformers leaves beside a model; without them
    it is the mean, and no prefix.

    Raises:
        ModelError: The folder or one of its files is missing or says nothing of use.
    """
    place = _place(name)
    for needed in _NEEDED:
        if not (place / needed).is_file():
            raise ModelMissingError(
                f"The folder {name} has no {needed}; a model needs {', '.join(_NEEDED)} (see docs/models.md)"
            )
    width = _json(place / "config.json").get("hidden_size")
    if not isinstance(width, int) or not 0 < width <= 8192:  # noqa: PLR2004 - far above any encoder
        raise ModelError(f"{place / 'config.json'} has no hidden_size; it must say how long the model's vectors are")
    pooling = _json(place / "1_Pooling" / "config.json")
    prompts = _json(place / "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    limit = _json(place / "tokenizer_config.json").get("model_max_length")
    return ModelSpec(
        name=name,
        dimensions=width,
        max_tokens=min(limit, _MAX_TOKENS) if isinstance(limit, int) and limit > 2 else _MAX_TOKENS,  # noqa: PLR2004 - two are its own marks
        languages="as its maker says",
        licence="as its maker says",
        size_bytes=sum(path.stat().st_size for path in place.iterdir() if path.is_file()),
        weights_sha256="",
        fingerprint="",
        description=f"the model in {place}",
        pooling="cls" if pooling.get("pooling_mode_cls_token") is True else "mean",
        query_prefix=_text(prompts.get("query")),
        passage_prefix=_text(prompts.get("passage", prompts.get("document"))),
    )


def checked(name: str) -> tuple[ModelSpec, Path, Path]:
    """Return the model in a folder with its fingerprint, its weights and its tokenizer.

    All its files are read: weights may lie beside the ONNX file under any name.

    Raises:
        ModelError: As ``described``, or a file cannot be read.
    """
    spec, place = described(name), _place(name)
    try:
        hashes = {path.name: installed.sha256(path) for path in place.iterdir() if _is_weights(path)}
        tokenizer = installed.sha256(place / installed.TOKENIZER)
    except OSError as error:
        raise ModelError(f"The model in {name} cannot be read ({error.strerror or error})") from error
    return identified(spec, installed.combined(hashes), tokenizer), place / WEIGHTS, place / installed.TOKENIZER


def _place(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ModelMissingError(f"There is no folder {name} ({error})") from None


def _is_weights(path: Path) -> bool:
    return path.is_file() and path.suffix not in (".json", ".md", ".txt") and not path.name.startswith(".")


def _json(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _SMALL_BYTES:
            return {}
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
