"""Where a vault's index lies: a private folder of its own in the user's cache."""

import os
import re
import stat
import tempfile
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout

from synapse_ls.core.errors import IndexStateError, VaultError
from synapse_ls.store import files

INDEX_NAME = "index.db"
LOCK_NAME = "writer.lock"
# Names the index file in use, one of several while a new one is made beside it.
CURRENT_NAME = "current"
# Holds the vault's path: the folder's own name tells people of it, but not exactly.
VAULT_NAME = "vault"

_INDEX_FILE = re.compile(r"index-[0-9]{1,18}\.db", re.ASCII)
_MAX_PATH_BYTES = 64 * 1024


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


def real_path(folder: Path) -> Path:
    """Return the real path of a folder that may have gone, as ``index_folder`` tells vaults.

    Raises:
        VaultError: No folder can be called so.
    """
    try:
        return folder.expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise VaultError(f"{folder} is no folder ({error}); give the folder that held your notes") from None


def index_folder(root: Path) -> Path:
    """Return the folder of a vault's index; the vault is told by its real path."""
    name = re.sub(r"[^\w.-]+", "-", root.name)[:40] or "root"
    digest = blake2b(os.fsencode(root), digest_size=8).hexdigest()
    return cache_root() / "vaults" / f"{name}-{digest}"


def current_index(folder: Path) -> Path | None:
    """Return the index file that an index folder names as the one in use; None if it names none."""
    name = _content(folder / CURRENT_NAME).strip().decode("ascii", "replace")
    return folder / name if _INDEX_FILE.fullmatch(name) else None


def set_current(folder: Path, name: str) -> None:
    """Name the index file in use, in one step: whoever reads meanwhile finds the former name or the new one."""
    if not _INDEX_FILE.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an index file")
    _replace(folder / CURRENT_NAME, f"{name}\n".encode())


def remember(folder: Path, root: Path) -> None:
    """Keep in an index folder which vault it belongs to."""
    if vault_of(folder) != root:
        _replace(folder / VAULT_NAME, os.fsencode(root))


def vault_of(folder: Path) -> Path | None:
    """Return the real path of the vault that an index folder belongs to; None if it does not say."""
    content = _content(folder / VAULT_NAME)
    return Path(os.fsdecode(content)) if content.startswith(b"/") and b"\0" not in content else None


def index_folders() -> list[Path]:
    """Return the folders of all indexes, by name."""
    try:
        return sorted(path for path in (cache_root() / "vaults").iterdir() if path.is_dir())
    except OSError:
        return []


def keep_private(folder: Path) -> None:
    """Take the files of an index folder from other users. Nothing above it is touched: that may be more than ours."""
    for path in folder.iterdir():
        with suppress(OSError):
            mode = path.lstat().st_mode
            if mode & 0o077 and stat.S_ISREG(mode):
                path.chmod(mode & 0o700)


def model_folder() -> Path:
    """Return the folder of downloaded models."""
    return cache_root() / "models"


def log_folder() -> Path:
    """Return the folder of the logs."""
    return cache_root() / "logs"


def forget(root: Path) -> bool:
    """Remove a vault's index and all else in its folder; returns whether there was one. The lock goes last.

    Raises:
        IndexStateError: A running Synapse writes it.
    """
    folder = index_folder(root)
    if not folder.exists():
        return False
    try:
        if files.identity(folder / LOCK_NAME) is None:
            files.discard(folder / LOCK_NAME)
        with FileLock(folder / LOCK_NAME, timeout=0, mode=0o600):
            for path in sorted(folder.iterdir(), key=lambda path: path.name == LOCK_NAME):
                files.discard(path)
            with suppress(OSError):  # another Synapse may begin anew at this moment
                folder.rmdir()
    except Timeout:
        raise IndexStateError("a running Synapse keeps this index; close your editor first") from None
    except OSError as error:
        raise IndexStateError(f"the index in {folder} cannot be removed ({error.strerror or error})") from error
    return True


def size(folder: Path) -> int:
    """Return the bytes of all files below a folder; 0 if it is not there."""
    total = 0
    for path in folder.rglob("*"):
        # Files come and go while an index is written.
        with suppress(OSError):
            if path.is_file():
                total += path.stat().st_size
    return total


def _content(path: Path) -> bytes:
    """Return the beginning of a file; nothing if none is there, and of a pipe or a link, which may lead anywhere."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as file:  # noqa: PTH123 - a handle
            return file.read(_MAX_PATH_BYTES) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return b""


def _replace(path: Path, content: bytes) -> None:
    if files.identity(path) is None:
        files.discard(path)
    # mkstemp makes the file for its owner alone.
    handle, temporary = tempfile.mkstemp(prefix=f"{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
