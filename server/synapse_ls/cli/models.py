"""``synapse-ls models``: what models there are, getting one and removing one."""

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from synapse_ls.cli.terminal import print_json, say
from synapse_ls.core.errors import ModelError
from synapse_ls.inference import catalogue, download, embedder, installed, registry
from synapse_ls.inference.registry import ModelSpec
from synapse_ls.vault import location, model_use

_YES: Final = ("y", "yes")


def models(options: argparse.Namespace) -> int:
    """Carry out one of the three."""
    run = {"list": _list, "pull": _pull, "remove": _remove}[options.action]
    return run(options, location.model_folder())


def _list(options: argparse.Namespace, folder: Path) -> int:
    """Print the models: our own, those downloaded, and with ``--all`` those of fastembed's list."""
    specs = [catalogue.resolve(spec.name, folder) for spec in registry.MODELS]
    names = [manifest.model for manifest in installed.pulled(folder)]
    more = catalogue.fastembed_models() if options.all or any("/" in name for name in names) else []
    specs += [installed.completed(spec, folder) for spec in more if options.all or spec.name in names]
    rows = [_row(spec, folder) for spec in specs]
    if options.json:
        print_json({"folder": str(folder), "models": rows})
        return 0
    for row in rows:
        size = download.size(row["sizeBytes"])
        print(f"{row['name']}  {row['state']}")
        print(f"   {row['description']}; {row['languages']}, {row['dimensions']} dimensions, {size}, {row['licence']}")
        if row["state"] != "installed":
            print(f"   {row['toGet']}")
    print(f"choose one with the setting embedding.model; {folder} holds those that are downloaded")
    return 0


def _row(spec: ModelSpec, folder: Path) -> dict[str, Any]:
    try:
        embedder.check(spec.name, folder)
        state, get = "installed", None
    except ModelError as error:
        state = "available"
        get = f"synapse-ls models pull {spec.name}" if spec.source is not None else str(error)
    return {
        "name": spec.name,
        "state": state,
        "description": spec.description,
        "languages": spec.languages,
        "licence": spec.licence,
        "dimensions": spec.dimensions,
        "sizeBytes": spec.size_bytes,
        "source": f"{download.HUB}/{spec.source.repository}" if spec.source is not None else None,
        "toGet": get,
    }


def _pull(options: argparse.Namespace, folder: Path) -> int:
    """Download a model, after asking."""
    spec = catalogue.resolve(options.name, folder)
    terms = download.consent(spec, folder)
    say(terms)
    if not options.yes and not _agreed():
        raise ModelError(
            f"nothing was downloaded; to agree without being asked: synapse-ls models pull {spec.name} --yes"
        )
    manifest = _with_progress(spec, folder)
    place = installed.folder_of(folder, spec.name)
    if options.json:
        print_json({"name": spec.name, "path": str(place), "sizeBytes": manifest.size, "revision": manifest.revision})
    else:
        print(f"{spec.name} is in {place}; to use it, set embedding.model to {spec.name}")
    return 0


def _agreed() -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    print("download it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in _YES


def _with_progress(spec: ModelSpec, folder: Path) -> installed.Manifest:
    from tqdm import tqdm

    # Without a terminal there is no bar.
    with tqdm(
        desc=spec.name, unit="B", unit_scale=True, leave=False, file=sys.stderr, disable=not sys.stderr.isatty()
    ) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return download.pull(spec, folder, progress)


def _remove(options: argparse.Namespace, folder: Path) -> int:
    """Remove a downloaded model that no running server uses."""
    manifest = installed.manifest_of(folder, options.name)
    left = installed.staging_of(folder, options.name)
    if manifest is None and not left.exists() and not installed.folder_of(folder, options.name).exists():
        known = ", ".join(one.model for one in installed.pulled(folder)) or "none"
        raise ModelError(f"The model {options.name} is not downloaded; downloaded are: {known}")
    if manifest is not None:
        used = model_use.served_with(catalogue.resolve(options.name, folder).fingerprint)
        if used:
            raise ModelError(
                f"The model {options.name} is in use for {', '.join(map(str, used))}; "
                "choose another in your editor or close it first"
            )
    freed = installed.remove(folder, options.name)
    if options.json:
        print_json({"name": options.name, "removed": True, "sizeBytes": freed})
    else:
        print(f"{options.name} is removed; {download.size(freed)} are free again")
    return 0
