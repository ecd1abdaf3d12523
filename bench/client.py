"""A small synchronous language client over a child process's stdio. Standard library only.

One thread reads; answers and notifications are stamped with ``time.perf_counter()`` on arrival, so that what the
caller does meanwhile does not count.
"""

import itertools
import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

_LAST_WORDS = 2000


class ServerError(Exception):
    """The server answered with an error, fell silent or went away."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message from the server: ``at`` is its time of arrival, ``value`` its result, error or parameters."""

    at: float
    value: Any
    failed: bool = False


class Client:
    """One running server; use it as a context manager. ``started`` is the time just before its process began.

    ``settings`` is what the server is answered when it asks for its settings.
    """

    settings: Mapping[str, object] | None = None

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the server lives
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, **environment},
        )
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._answers: dict[int, Arrival] = {}
        self._notifications: list[tuple[str, Arrival]] = []
        self._closed = False
        # Counts also when several threads ask.
        self._ids = itertools.count(1)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if error is None:
                self.request("shutdown", None)
                self.notify("exit", None)
                self._process.wait(timeout=10)
        finally:
            if self._process.poll() is None:
                self._process.kill()
            self._process.wait()
            self._log.close()

    def initialize(self, vault: Path, options: Mapping[str, object] | None = None) -> Arrival:
        """Do the first half of the handshake, with settings; return when and what the server answered."""
        uri = vault.resolve().as_uri()
        return self.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": vault.name}],
                "initializationOptions": dict(options or {}),
                "capabilities": {
                    "workspace": {"workspaceFolders": True, "configuration": True},
                    "textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}},
                },
            },
        )

    def initialized(self) -> None:
        """Do the second half of the handshake, upon which the server begins to work."""
        self.notify("initialized", {})

    def request(self, method: str, params: object, timeout: float = 30) -> Any:  # noqa: ANN401 - any JSON value
        """Return the result of one request."""
        return self.ask(method, params, timeout).value

    def ask(self, method: str, params: object, timeout: float = 30) -> Arrival:
        """Send one request and return its answer with the time of arrival.

        Raises:
            ServerError: the answer is an error, or none came in time.
        """
        answer = self.answer(self.send(method, params), timeout)
        if answer.failed:
            raise ServerError(f"{method}: {answer.value}")
        return answer

    def send(self, method: str, params: object) -> int:
        """Send a request without waiting; return its id for ``answer``."""
        request_id = next(self._ids)
        self._write({"id": request_id, "method": method, "params": params})
        return request_id

    def answer(self, request_id: int, timeout: float = 30) -> Arrival:
        """Wait for the answer, result or error, to a request that was sent."""
        self._wait(lambda: request_id in self._answers, timeout, f"an answer to request {request_id}")
        return self._answers.pop(request_id)

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._write({"method": method, "params": params})

    def wait_for(self, method: str, accept: Callable[[Any], bool], timeout: float = 30) -> Arrival:
        """Return the first notification, of those seen so far or to come, whose parameters are accepted."""
        seen = 0
        found: list[Arrival] = []

        def arrived() -> bool:
            nonlocal seen
            fresh, seen = self._notifications[seen:], len(self._notifications)
            found.extend(arrival for name, arrival in fresh if name == method and accept(arrival.value))
            return bool(found)

        self._wait(arrived, timeout, f"{method} as wished")
        return found[0]

    def messages(self) -> list[str]:
        """Return what the server has shown to the user so far."""
        return [told.value["message"] for told in self.notified("window/showMessage")]

    def notified(self, method: str) -> list[Arrival]:
        """Return the notifications of a method that have come so far."""
        with self._changed:
            return [told for name, told in self._notifications if name == method]

    def _wait(self, happened: Callable[[], bool], timeout: float, wish: str) -> None:
        with self._changed:
            self._changed.wait_for(lambda: happened() or self._closed, timeout)
            if not happened():
                state = "the server closed its output" if self._closed else f"{timeout:g} s passed"
                raise ServerError(f"{state}, without {wish}{self._last_words()}")

    def _last_words(self) -> str:
        """Return the end of what the server wrote to stderr."""
        written = os.pread(self._log.fileno(), _LAST_WORDS, max(0, os.fstat(self._log.fileno()).st_size - _LAST_WORDS))
        return f"; its log ends:\n{written.decode(errors='replace')}" if written else ""

    def _write(self, message: dict[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        pipe = _open(self._process.stdin)
        try:
            with self._writing:
                pipe.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                pipe.flush()
        except OSError as error:
            raise ServerError(f"the server reads no more{self._last_words()}") from error

    def _read(self) -> None:
        try:
            while (message := _next_message(_open(self._process.stdout))) is not None:
                self._receive(time.perf_counter(), message)
        finally:
            with self._changed:
                self._closed = True
                self._changed.notify_all()

    def _receive(self, at: float, message: dict[str, Any]) -> None:
        match message:
            case {"method": method, "id": request_id}:
                self._write({"id": request_id, "result": self._obliging(method, message.get("params"))})
            case {"method": method}:
                with self._changed:
                    self._notifications.append((method, Arrival(at, message.get("params"))))
                    self._changed.notify_all()
            case {"id": request_id, "error": error}:
                self._keep(request_id, Arrival(at, error, failed=True))
            case {"id": request_id}:
                self._keep(request_id, Arrival(at, message.get("result")))

    def _obliging(self, method: str, params: Any) -> object:  # noqa: ANN401 - any JSON value
        """Return what the server's own requests are answered."""
        return [self.settings] + [None] * (len(params["items"]) - 1) if method == "workspace/configuration" else None

    def _keep(self, request_id: int, answer: Arrival) -> None:
        with self._changed:
            self._answers[request_id] = answer
            self._changed.notify_all()


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ServerError("the server was started without pipes")
    return pipe


def _next_message(pipe: IO[bytes]) -> dict[str, Any] | None:
    """Read one framed message; None at the end of the stream."""
    length = 0
    while (line := pipe.readline()) not in (b"", b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    body = pipe.read(length)
    return json.loads(body) if body else None
