"""The one way out to other machines, taken only for what the user has named: a hub, or an endpoint of their own."""

import ipaddress
import json
import os
import time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from synapse_ls.core.errors import ModelError

if TYPE_CHECKING:
    import requests

    from synapse_ls.core.config import HttpSettings

CONNECT_SECONDS = 5.0
"""How long a machine may take to answer the call at all."""

_MOST_BYTES: Final = 8 << 20


class StatusError(ModelError):
    """An endpoint answers, but with a status that is not 200."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Caller:
    """Calls of one endpoint that takes JSON and gives JSON, from any thread.

    ``shown`` is its address without what might be secret: a password, a query. ``instead`` ends each message: what
    happens without the endpoint.
    """

    def __init__(self, url: str, key: str | None, instead: str) -> None:
        self.url = url
        self.shown = shown(url)
        self._instead = instead
        self._headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._session = session(url)

    def answer(self, body: dict[str, Any], seconds: float) -> object:
        """Return what the endpoint answers; None if that is no JSON. Redirects are not followed.

        Raises:
            StatusError: The endpoint answers with an error.
            ModelError: It cannot be reached, does not answer in time or says too much.
        """
        import requests

        late = time.monotonic() + seconds
        content = bytearray()
        try:
            with self._session.post(
                self.url,
                json=body,
                headers=self._headers,
                auth=_as_it_is,
                timeout=(min(CONNECT_SECONDS, seconds), seconds),
                allow_redirects=False,
                stream=True,
            ) as answer:
                for piece in answer.iter_content(1 << 16):
                    content += piece
                    if time.monotonic() > late:
                        raise requests.exceptions.Timeout
                    if len(content) > _MOST_BYTES:
                        raise ModelError(f"{self.shown} answers with more than it should; {self._instead}")
                status = answer.status_code
        except requests.exceptions.RequestException as error:
            raise ModelError(f"{self.shown} is not there ({told(error)}); {self._instead}") from error
        if status != 200:  # noqa: PLR2004 - the protocol's own number
            raise StatusError(f"{self.shown} answers {status}{_reason(bytes(content))}; {self._instead}", status)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            return None


def address(settings: "HttpSettings", section: str, ending: str, example: str) -> str:
    """Return the address of an endpoint, whether the user wrote its ``ending`` or not.

    ``section`` is the one of the settings, such as ``embedding.http``.

    Raises:
        ModelError: What the user wrote is no address.
    """
    url = settings.url or ""
    if not is_web_address(url):
        raise ModelError(f"{section}.url is {url!r}; it must be an address such as {example}")
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(ending) else f"{path}{ending}").geturl()


def key(settings: "HttpSettings", section: str) -> str | None:
    """Return the key of an endpoint from the environment; None if the user names none.

    Raises:
        ModelError: The variable that the user names holds no key.
    """
    if settings.key_env is None:
        return None
    held = os.environ.get(settings.key_env, "").strip()
    if not held or not held.isascii() or not held.isprintable():
        raise ModelError(f"{section}.keyEnv names {settings.key_env}, which holds no key; set it and start again")
    return held


def session(url: str) -> "requests.Session":
    """Return a session for an address: proxies and certificates as the environment has them, none for this machine."""
    import requests

    made = requests.Session()
    made.headers["User-Agent"] = "synapse-ls"
    made.trust_env = not _is_here(url)
    return made


def is_web_address(url: str) -> bool:
    """Return whether a text is an address of the web."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def shown(url: str) -> str:
    """Return an address without what might be secret: a password, a query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "what is no address"
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def told(error: Exception) -> str:
    """Return what went wrong with a call in a few words: the library's own are a page."""
    import requests

    if isinstance(error, requests.exceptions.ProxyError):
        return "its proxy does not answer"
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate is not trusted"
    if isinstance(error, requests.exceptions.Timeout):
        return "it did not answer in time"
    if isinstance(error, requests.exceptions.ConnectionError):
        return "it cannot be reached"
    return f"{type(error).__name__}"


def _as_it_is(request: Any) -> Any:  # noqa: ANN401 - the library's own
    """Leave a request as it is: otherwise the library would look for passwords of its own."""
    return request


def _reason(content: bytes) -> str:
    """Return what an endpoint says of an error, on one short line."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    value = value if isinstance(value, dict) else {}
    error = value.get("error")
    # Some say it in an object, some as it is, some under another name.
    said = error.get("message") if isinstance(error, dict) else error or value.get("message") or value.get("detail")
    return f" ({' '.join(said.split())[:200]})" if isinstance(said, str) and said.strip() else ""


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
