"""Where a vault's index lies: a private folder of its own in the user's cache."""

import os
import re
import shutil
from hashlib import blake2b
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout

from synapse_ls.core.errors import IndexStateError, VaultError

INDEX_NAME = "index.db"
LOCK_NAME = "writer.lock"


def cache_root() -> Path:
    """Return the folder of everything Synapse keeps: ``SYNAPSE_CACHE_DIR``, else the user's cache folder."""
    chosen = os.environ.get("SYNAPSE_CACHE_DIR")
    return Path(chosen).expanduser().absolute() if chosen else Path(platformdirs.user_cache_dir("synapse-ls", False))


def vault_root(folder: Path) -> Path:
    """Return the real path of a folder given as a vault.

    Raises:
        VaultError: It is missing, not a folder or not readable.
    """
    try:
        root = folder.expanduser().resolve(strict=True)
        if not root.is_dir():
            raise VaultError(f"{folder} is a file; give the folder that holds your notes")
        with os.scandir(root):
            return root
    except FileNotFoundError:
        raise VaultError(f"there is no folder {folder}; give the folder that holds your notes") from None
    except OSError as error:
        raise VaultError(
            f"the folder {folder} cannot be read ({error.strerror or error}); check its permissions"
        ) from None
    except (RuntimeError, ValueError) as error:  # a loop of links, a home that nobody has, a path that cannot be
        raise VaultError(f"{folder} is no folder ({error}); give the folder that holds your notes") from None


def index_folder(root: Path) -> Path:
    """Return the folder of a vault's index; the vault is told by its real path."""
    name = re.sub(r"[^\w.-]+", "-", root.name)[:40] or "root"
    digest = blake2b(os.fsencode(root), digest_size=8).hexdigest()
    return cache_root() / "vaults" / f"{name}-{digest}"


def forget(root: Path) -> bool:
    """Remove a vault's index; returns whether there was one.

    Raises:
        IndexStateError: A running Synapse writes it.
    """
    folder = index_folder(root)
    if not folder.exists():
        return False
    try:
        with FileLock(folder / LOCK_NAME, timeout=0, mode=0o600):
            for path in folder.iterdir():
                if path.name != LOCK_NAME:
                    path.unlink()
    except Timeout:
        raise IndexStateError("a running Synapse keeps this index; close your editor first") from None
    except OSError as error:
        raise IndexStateError(f"the index in {folder} cannot be removed ({error.strerror or error})") from error
    shutil.rmtree(folder, ignore_errors=True)
    return True


def size(folder: Path) -> int:
    """Return the bytes of all files below a folder; 0 if it is not there."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
