"""The settings file of a vault."""

import tomllib
from pathlib import Path

from synapse_ls.core import config
from synapse_ls.core.config import Settings

FILE_NAME = ".synapse.toml"
_MAX_BYTES = 64 * 1024


def settings_of(root: Path, base: Settings) -> tuple[Settings, list[str]]:
    """Return ``base`` with the vault's ``.synapse.toml`` on top, and a warning for each value left out.

    The file comes with the notes, so it may not choose models or addresses (``config.NOT_FROM_A_VAULT``).
    """
    path = root / FILE_NAME
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            return base, [f"{FILE_NAME} is not a file of the vault itself; its settings are left out"]
        if path.stat().st_size > _MAX_BYTES:
            return base, [f"{FILE_NAME} is larger than {_MAX_BYTES // 1024} KiB; its settings are left out"]
        values = tomllib.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return base, []
    except RecursionError:
        return base, [f"{FILE_NAME} is nested too deeply; its settings are left out"]
    except (OSError, ValueError) as error:
        return base, [f"{FILE_NAME} cannot be read ({error}); its settings are left out"]
    return config.apply(base, values, FILE_NAME, from_vault=True)
