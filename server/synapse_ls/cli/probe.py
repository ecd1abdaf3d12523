"""The checks of ``synapse-ls doctor`` in a process of their own, since what they try may hang or crash it."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from synapse_ls.cli import installation, surroundings, vault_health
from synapse_ls.cli.finding import Finding

CHECKS: dict[str, Callable[[], Finding]] = {
    "packages": installation.packages,
    "database": installation.database,
    "model": installation.model,
    "watching": installation.watching,
    "inotify": surroundings.inotify,
    "cache": surroundings.cache,
    "privacy": surroundings.privacy,
    "indexes": surroundings.indexes,
    "logs": surroundings.logs,
    "temporary files": surroundings.temporary,
}
VAULT_CHECKS: dict[str, Callable[[Path], Finding]] = {
    "vault": vault_health.vault,
    "settings": vault_health.settings,
    "index": vault_health.index,
}


def main(vault: str, names: list[str]) -> None:
    """Print the findings of the checks, each as a line of JSON as soon as it is there."""
    # What a broken package prints must not come between.
    findings = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    for name in names:
        try:
            finding = CHECKS[name]() if name in CHECKS else VAULT_CHECKS[name](Path(vault))
        except BaseException as error:  # noqa: BLE001 - a check that fails is itself a finding
            told = " ".join(f"{error}".split()) or type(error).__name__
            finding = Finding(name, False, f"cannot be checked ({told})", "mend first what is said above")
        print(json.dumps(asdict(finding)), file=findings, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
