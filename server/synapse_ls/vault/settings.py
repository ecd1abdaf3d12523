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
    try:
        with (root / FILE_NAME).open("rb") as file:
            values = tomllib.loads(file.read(_MAX_BYTES).decode("utf-8"))
    except FileNotFoundError:
        return base, []
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return base, [f"{FILE_NAME} cannot be read ({error}); its settings are left out"]
    return config.apply(base, values, FILE_NAME, from_vault=True)
