"""Getting a model from a hub: nothing is taken for a model before all of it is there and is what the hub says it is."""

import hashlib
import os
import re
import shutil
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urljoin

from filelock import FileLock, Timeout

from synapse_ls.core.errors import ModelError
from synapse_ls.inference import http, installed
from synapse_ls.inference.installed import File, Manifest
from synapse_ls.inference.registry import AnySpec, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    import requests

HUB: Final = "https://huggingface.co"

_SILENCE_SECONDS: Final = 20.0
_PIECE: Final = 1 << 14
# A connection that drops is taken up again so often, if it brought something each time.
_CONTINUATIONS: Final = 5
_REDIRECTS: Final = 5
_SPARE_BYTES: Final = 100 << 20
_SHA256: Final = re.compile("[0-9a-f]{64}")
_SHA1: Final = re.compile("[0-9a-f]{40}")


class PullStoppedError(ModelError):
    """The user has stopped a download; what came is kept."""


@dataclass(frozen=True, slots=True)
class _Remote:
    """A file as the hub tells it: ``hash`` is its SHA-256, or for small files git's SHA-1 of it."""

    name: str
    url: str
    size: int
    hash: str


def hub() -> str:
    """Return the address of the hub: ``HF_ENDPOINT``, else the public one.

    Raises:
        ModelError: ``HF_ENDPOINT`` is no address.
    """
    chosen = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or HUB
    if not http.is_web_address(chosen):
        raise ModelError(f"HF_ENDPOINT is {chosen!r}; it must be an address such as {HUB}")
    return chosen


def consent(spec: AnySpec, models: Path) -> str:
    """Return what somebody should know before a model is downloaded, in one sentence.

    Raises:
        ModelError: The model is not one of a hub, or ``HF_ENDPOINT`` is no address.
    """
    source = _source(spec)
    return (
        f"{spec.name} is about {size(spec.size_bytes)} from {hub()}/{source.repository}, licence {spec.licence}, "
        f"languages: {spec.languages}; it goes to {installed.folder_of(models, spec.name)}"
    )


def pull(
    spec: AnySpec,
    models: Path,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Manifest:
    """Download a model, or what is missing of it, and return what there is now.

    ``progress`` hears of (bytes there, bytes in all). An interrupted download goes on where it was.

    Raises:
        PullStoppedError: ``cancelled()`` became true.
        ModelError: The hub cannot be reached, or what it gives is not the model. What came whole is kept.
    """
    source, again = _source(spec), f"run: synapse-ls models pull {spec.name}"
    address = hub()
    staging = installed.staging_of(models, spec.name)
    with _alone(models, spec.name), http.session(address) as session:
        try:
            staging.mkdir(mode=0o700, parents=True, exist_ok=True)
            revision, remotes = _looked_up(session, address, source, spec.name)
            _make_room(staging, remotes, spec.name)
            files = _gathered(session, staging, remotes, progress, cancelled)
            manifest = Manifest(spec.name, f"{address}/{source.repository}", revision, files)
            _put_in_place(installed.folder_of(models, spec.name), staging, manifest)
        except PullStoppedError:
            raise PullStoppedError(f"stopped; what came of {spec.name} is kept, and goes on with: {again}") from None
        except OSError as error:  # the library's own errors among them
            wrong = error.strerror or http.told(error)
            if type(error).__module__.startswith(("requests", "urllib3")):
                raise ModelError(
                    f"The model {spec.name} cannot be downloaded from {address}: {http.told(error)}; "
                    f"when there is a connection, {again}"
                ) from error
            raise ModelError(f"The model {spec.name} cannot be kept in {models} ({wrong}); then {again}") from error
        return manifest


def size(count: int) -> str:
    """Return a number of bytes for people."""
    if count >= 1e9:  # noqa: PLR2004 - a gigabyte
        return f"{count / 1e9:.1f} GB"
    return f"{max(count / 1e6, 0.1):.0f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"  # noqa: PLR2004 - a megabyte


def _source(spec: AnySpec) -> Source:
    if spec.source is None:
        raise ModelError(f"The model {spec.name} is not one to download; set {spec.setting} to use it")
    return spec.source


@contextmanager
def _alone(models: Path, name: str) -> "Iterator[None]":
    """Keep other processes from downloading the same model."""
    lock = models / f"{installed.folder_of(models, name).name}.lock"
    try:
        models.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(lock, timeout=0, mode=0o600):
            yield
    except Timeout:
        raise ModelError(f"The model {name} is being downloaded by another Synapse; wait for it") from None
    except PermissionError as error:
        raise ModelError(
            f"The folder {models} cannot be written ({error.strerror}); set SYNAPSE_CACHE_DIR to one you can write to"
        ) from error


def _looked_up(session: "requests.Session", address: str, source: Source, name: str) -> tuple[str, list[_Remote]]:
    """Ask the hub for the size and the hash of every file, all of one revision."""
    revision, remotes = "main", []
    for path in source.files:
        url = f"{address}/{source.repository}/resolve/{quote(revision, safe='')}/{quote(path)}"
        answer = _asked(session, url)
        if answer.status_code != 200 and answer.status_code // 100 != 3:  # noqa: PLR2004 - the protocol's own numbers
            raise ModelError(
                f"The hub {address} answers {answer.status_code} for {path} of {source.repository}: "
                f"the model {name} is not there in this form; nothing was downloaded"
            )
        heads = answer.headers
        hash_ = (heads.get("X-Linked-Etag") or heads.get("ETag") or "").removeprefix("W/").strip('"')
        length = heads.get("X-Linked-Size") or heads.get("Content-Length") or ""
        if not (_SHA256.fullmatch(hash_) or _SHA1.fullmatch(hash_)) or not length.isdecimal():
            raise ModelError(f"The hub {address} does not say what {path} should be; nothing was downloaded")
        commit = heads.get("X-Repo-Commit", "")
        if revision == "main" and _SHA1.fullmatch(commit):
            revision = commit
            url = f"{address}/{source.repository}/resolve/{revision}/{quote(path)}"
        remotes.append(_Remote(Path(path).name, url, int(length), hash_))
    return revision, remotes


def _asked(session: "requests.Session", url: str) -> "requests.Response":
    """Ask what a file is: the hub's answer, before it leads to where the bytes are."""
    for _ in range(_REDIRECTS):
        answer = session.head(
            url,
            allow_redirects=False,
            timeout=(http.CONNECT_SECONDS, _SILENCE_SECONDS),
            headers={"Accept-Encoding": "identity"},
        )
        target = answer.headers.get("Location", "")
        # What is told beside the way to the bytes is of the file; another place on the hub itself is asked in turn.
        if answer.status_code // 100 != 3 or "X-Linked-Size" in answer.headers or not target.startswith("/"):  # noqa: PLR2004 - the protocol's own number
            return answer
        url = urljoin(url, target)
    return answer


def _make_room(staging: Path, remotes: list[_Remote], name: str) -> None:
    # What an earlier download of other files left is of no use.
    wanted = {_part(remote) for remote in remotes} | {remote.name for remote in remotes}
    for path in staging.iterdir():
        if path.name not in wanted:
            path.unlink()
    needed = sum(remote.size for remote in remotes) - sum(path.stat().st_size for path in staging.iterdir())
    free = shutil.disk_usage(staging).free
    if free < needed + _SPARE_BYTES:
        raise ModelError(
            f"There is room for {size(free)} in {staging.parent}, but {name} needs {size(needed)}; "
            "make room or set SYNAPSE_CACHE_DIR"
        )


def _part(remote: _Remote) -> str:
    """Return the name of a file that is not whole: with its hash, so that it is never continued with another."""
    return f"{remote.name}.{remote.hash[:16]}.part"


def _gathered(
    session: "requests.Session",
    staging: Path,
    remotes: list[_Remote],
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
) -> tuple[File, ...]:
    total, before = sum(remote.size for remote in remotes), 0
    files = []
    for remote in remotes:
        part = staging / _part(remote)
        whole = staging / remote.name
        if whole.exists():
            whole.replace(part)  # it is compared once more below
        start = before

        def came(count: int, start: int = start) -> None:
            if cancelled():
                raise PullStoppedError("stopped")
            progress(start + count, total)

        _fetch(session, remote, part, came)
        files.append(File(remote.name, remote.size, _verified(remote, part, cancelled)))
        part.replace(whole)
        before += remote.size
    return tuple(files)


def _fetch(session: "requests.Session", remote: _Remote, part: Path, came: Callable[[int], None]) -> None:
    """Bring a file to its full size, going on where it is."""
    import requests

    tries = 0
    while (held := part.stat().st_size if part.exists() else 0) != remote.size or not part.exists():
        if held > remote.size:
            part.unlink()
            continue
        came(held)
        try:
            _receive(session, remote, part, held, came)
        except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ConnectionError):
            if not part.exists() or part.stat().st_size <= held or tries == _CONTINUATIONS:
                raise
        tries += 1
        if (part.stat().st_size <= held and remote.size) or tries > _CONTINUATIONS:
            raise requests.exceptions.ConnectionError(f"{remote.name} ends too early")
    came(remote.size)


def _receive(session: "requests.Session", remote: _Remote, part: Path, held: int, came: Callable[[int], None]) -> None:
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={held}-"} if held else {})
    with session.get(
        remote.url, headers=headers, stream=True, timeout=(http.CONNECT_SECONDS, _SILENCE_SECONDS)
    ) as answer:
        answer.raise_for_status()
        # A server that knows no ranges gives all of it again.
        goes_on = held > 0 and answer.headers.get("Content-Range", "").startswith(f"bytes {held}-")
        count = held if goes_on else 0
        with part.open("ab" if goes_on else "wb") as file:
            for piece in answer.iter_content(_PIECE):
                count += len(piece)
                if count > remote.size:
                    raise ModelError(f"The hub gives more of {remote.name} than it should have; run the command again")
                file.write(piece)
                came(count)


def _verified(remote: _Remote, part: Path, cancelled: Callable[[], bool]) -> str:
    """Return the SHA-256 of a file that came; one that is not what the hub says is removed."""
    found = installed.sha256(part, cancelled)
    if not found:
        raise PullStoppedError("stopped")
    if remote.hash not in (found, _git_hash(part) if _SHA1.fullmatch(remote.hash) else ""):
        part.unlink()
        raise ModelError(
            f"What came of {remote.name} is not what the hub says it is, and is removed; run the command again"
        )
    return found


def _git_hash(path: Path) -> str:
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _put_in_place(folder: Path, staging: Path, manifest: Manifest) -> None:
    """Let the gathered files be the model, in one step."""
    installed.write_manifest(staging, manifest)
    if folder.exists():
        (folder / installed.MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(folder)
    staging.rename(folder)
