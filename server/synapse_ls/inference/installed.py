"""Models that were downloaded: one folder each, with a list of its files that every load checks them against."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from synapse_ls.core.errors import ModelError, ModelMissingError
from synapse_ls.inference.registry import AnySpec, ModelSpec, identified

MANIFEST = "manifest.json"
TOKENIZER = "tokenizer.json"
_FORMAT = 1
_WITHOUT = {"encoder": "search goes on by words and links", "reranker": "hits stay in the order they were found"}


@dataclass(frozen=True, slots=True)
class File:
    """A file of a model: its name in the model's folder, its bytes and their SHA-256."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was downloaded, and from where; the weights come last."""

    model: str
    source: str
    revision: str
    files: tuple[File, ...]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)


def folder_of(models: Path, name: str) -> Path:
    """Return the folder of a model below that of all models, whether it is there or not."""
    return models / name.replace("/", "--")


def manifest_of(models: Path, name: str) -> Manifest | None:
    """Return what is known of a downloaded model; None if it is not there as a whole."""
    try:
        value = json.loads((folder_of(models, name) / MANIFEST).read_text("utf-8"))
        files = tuple(File(str(f["name"]), int(f["size"]), str(f["sha256"])) for f in value["files"])
        if value["format"] != _FORMAT or any(Path(file.name).name != file.name for file in files):
            return None
        return Manifest(str(value["model"]), str(value["source"]), str(value["revision"]), files)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Put the list of a model's files beside them."""
    text = json.dumps({"format": _FORMAT, **asdict(manifest)}, indent=2)
    (folder / MANIFEST).write_text(text + "\n", "utf-8")


def completed(spec: ModelSpec, models: Path) -> ModelSpec:
    """Return a model of a hub with the fingerprint of its files as they were downloaded; without, if they were not."""
    manifest = manifest_of(models, spec.name)
    return spec if manifest is None else identified(spec, *hashes(manifest))


def checked(spec: AnySpec, models: Path) -> tuple[Path, Path]:
    """Return the weights and the tokenizer of a downloaded model after comparing every file with its list.

    Raises:
        ModelError: It is not there, or a file is missing or differs from what was downloaded.
    """
    manifest = listed(spec, models)
    folder = folder_of(models, spec.name)
    for file in manifest.files:
        trouble = _trouble(folder / file.name, file)
        if trouble is not None:
            raise ModelError(
                f"The model {spec.name} is damaged: {file.name} {trouble}; run: synapse-ls models pull {spec.name}"
            )
    return folder / manifest.files[-1].name, folder / TOKENIZER


def listed(spec: AnySpec, models: Path) -> Manifest:
    """Return what is known of a downloaded model.

    Raises:
        ModelMissingError: It is not there as a whole.
    """
    manifest = manifest_of(models, spec.name)
    if manifest is None:
        raise ModelMissingError(
            f"The model {spec.name} is not downloaded; run: synapse-ls models pull {spec.name}; "
            f"until then {_WITHOUT[spec.kind]}"
        )
    return manifest


def remove(models: Path, name: str) -> int:
    """Remove a downloaded model, and what an interrupted download left; returns the bytes that are free again."""
    freed = 0
    for folder in (folder_of(models, name), staging_of(models, name)):
        freed += sum(path.stat().st_size for path in folder.glob("*") if path.is_file())
        # The list goes first: what is left of a removal that is cut short is no model.
        (folder / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
    return freed


def staging_of(models: Path, name: str) -> Path:
    """Return the folder in which a download gathers its files."""
    return models / f"{folder_of(models, name).name}.part"


def pulled(models: Path) -> list[Manifest]:
    """Return what is known of all downloaded models, by name."""
    try:
        names = sorted(path.parent.name for path in models.glob(f"*/{MANIFEST}") if path.parent.suffix != ".part")
    except OSError:
        return []
    return [manifest for name in names if (manifest := manifest_of(models, name)) is not None]


def sha256(path: Path, stopped: Callable[[], bool] = lambda: False) -> str:
    """Return the hash of a file in lower-case hexadecimal; gives up with "" when ``stopped()`` becomes true."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            if stopped():
                return ""
            digest.update(piece)
    return digest.hexdigest()


def hashes(manifest: Manifest) -> tuple[str, str]:
    """Return one hash for the weights of a model and that of its tokenizer."""
    found = {file.name: file.sha256 for file in manifest.files}
    weights = {name: hash_ for name, hash_ in found.items() if not name.endswith(".json")}
    return combined(weights), found.get(TOKENIZER, "")


def combined(files: dict[str, str]) -> str:
    """Return one hash for the hashes of several files by name."""
    return hashlib.sha256("\n".join(f"{files[name]} {name}" for name in sorted(files)).encode()).hexdigest()


def _trouble(path: Path, file: File) -> str | None:
    try:
        if path.stat().st_size != file.size:
            return "has another size than was downloaded"
        return None if sha256(path) == file.sha256 else "has other content than was downloaded"
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
