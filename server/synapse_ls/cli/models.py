"""``synapse-ls models``: what models there are, getting one and removing one."""

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any, Final

from synapse_ls.cli.terminal import print_json, say
from synapse_ls.core.errors import ModelError
from synapse_ls.inference import catalogue, cross_encoder, download, embedder, installed, registry
from synapse_ls.inference.registry import AnySpec, ModelSpec
from synapse_ls.vault import location, model_use

_YES: Final = ("y", "yes")


def models(options: argparse.Namespace) -> int:
    """Carry out one of the three."""
    run = {"list": _list, "pull": _pull, "remove": _remove}[options.action]
    return run(options, location.model_folder())


def _list(options: argparse.Namespace, folder: Path) -> int:
    """Print the models: our own, those downloaded, and with ``--all`` those of fastembed's list."""
    names = [manifest.model for manifest in installed.pulled(folder)]
    asked = options.all or any("/" in name for name in names)
    more: list[AnySpec] = [*catalogue.fastembed_models(), *catalogue.fastembed_rerankers()] if asked else []
    specs: list[AnySpec] = [
        *registry.MODELS,
        *registry.RERANKERS,
        *(spec for spec in more if options.all or spec.name in names),
    ]
    rows = [_row(spec, folder) for spec in sorted(specs, key=lambda spec: spec.kind)]
    if options.json:
        print_json({"folder": str(folder), "models": rows})
        return 0
    for kind, of_kind in itertools.groupby(rows, lambda row: (row["kind"], row["setting"])):
        print(f"{kind[0]}s, chosen with {kind[1]}")
        for row in of_kind:
            _show(row)
    print(f"{folder} holds those that are downloaded")
    return 0


def _show(row: dict[str, Any]) -> None:
    dimensions = f", {row['dimensions']} dimensions" if row["dimensions"] else ""
    size = f", {download.size(row['sizeBytes'])}" if row["sizeBytes"] else ""
    print(f"   {row['name']}  {row['state']}")
    print(f"      {row['description']}; {row['languages']}{dimensions}{size}, {row['licence']}")
    if row["state"] != "installed":
        print(f"      {row['toGet']}")


def _row(spec: AnySpec, folder: Path) -> dict[str, Any]:
    try:
        check = embedder.check if isinstance(spec, ModelSpec) else cross_encoder.check
        check(spec.name, folder)
        state, get = "installed", None
    except ModelError as error:
        state = "available"
        get = f"synapse-ls models pull {spec.name}" if spec.source is not None else str(error)
    return {
        "name": spec.name,
        "kind": spec.kind,
        "setting": spec.setting,
        "state": state,
        "description": spec.description,
        "languages": spec.languages,
        "licence": spec.licence,
        "dimensions": spec.dimensions if isinstance(spec, ModelSpec) else None,
        "sizeBytes": spec.size_bytes,
        "source": f"{download.HUB}/{spec.source.repository}" if spec.source is not None else None,
        "toGet": get,
    }


def _pull(options: argparse.Namespace, folder: Path) -> int:
    """Download a model, after asking."""
    spec = catalogue.resolve_any(options.name, folder)
    terms = download.consent(spec, folder)
    say(terms)
    if not options.yes and not _agreed():
        raise ModelError(
            f"nothing was downloaded; to agree without being asked: synapse-ls models pull {spec.name} --yes"
        )
    manifest = _with_progress(spec, folder)
    place = installed.folder_of(folder, spec.name)
    if options.json:
        print_json(
            {
                "name": spec.name,
                "kind": spec.kind,
                "path": str(place),
                "sizeBytes": manifest.size,
                "revision": manifest.revision,
            }
        )
    else:
        print(f"{spec.name} is in {place}; to use it, set {spec.setting} to {spec.name}")
    return 0


def _agreed() -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    print("download it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in _YES


def _with_progress(spec: AnySpec, folder: Path) -> installed.Manifest:
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
        spec = catalogue.resolve_any(options.name, folder)
        # A reranker leaves nothing in an index, and a server that has loaded it needs its files no more.
        used = model_use.served_with(spec.fingerprint) if isinstance(spec, ModelSpec) else []
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
