"""The one way out to other machines, taken only for what the user has named: a hub, or an endpoint of their own."""

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import requests

CONNECT_SECONDS = 5.0
"""How long a machine may take to answer the call at all."""


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


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
