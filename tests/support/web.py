"""Small web servers on loopback: a hub of models and endpoints, with the faults that real ones have."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_STORED, _RENAMED = "/stored", "/now"
_PATIENCE = 20.0
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve on a free port of loopback; gives the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Hub:
    """What a hub has, by repository and path, and how it fails.

    ``drop`` ends an answer early after so many bytes, each time; ``wrong`` gives other bytes than were announced;
    ``ranges`` says whether it can go on in the middle; ``gate`` is waited for in the middle of an answer; ``renamed``
    leads to another place on the hub first.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    drop: int | None = None
    wrong: bool = False
    ranges: bool = True
    hashes: bool = True
    renamed: bool = False
    status: int = 200
    gate: threading.Event | None = None
    reached: threading.Event = field(default_factory=threading.Event)
    seen: list[str] = field(default_factory=list)

    def add(self, repository: str, folder: Path, *, onnx: bool = True) -> None:
        """Take in a model's files: the weights and what lies beside them in ``onnx/``, the rest at the top."""
        for path in folder.iterdir():
            inside = "onnx/" if onnx and path.suffix != ".json" else ""
            self.files[f"{repository}/{inside}{path.name}"] = path.read_bytes()

    def content(self, path: str) -> bytes | None:
        """Return the file at a path of an address."""
        repository, _, rest = path.removeprefix(_STORED).removeprefix(_RENAMED).partition("/resolve/")
        return self.files.get(f"{repository[1:]}/{rest.partition('/')[2]}")

    def heads(self, path: str, content: bytes) -> dict[str, str]:
        """Return what is told of a file."""
        heads = {"X-Repo-Commit": COMMIT}
        if self.hashes and _is_large(path):
            heads["X-Linked-Etag"] = f'"{hashlib.sha256(content).hexdigest()}"'
        elif self.hashes:
            heads["ETag"] = _git(content)
        return heads


@contextmanager
def hub(state: Hub) -> Iterator[str]:
    """Serve a hub: large files lead to another place and are named by their SHA-256, small ones by git's SHA-1."""
    with listening(type("Handler", (_HubHandler,), {"state": state})) as address:
        yield address


class _HubHandler(BaseHTTPRequestHandler):
    """Answers as a hub does."""

    state: Hub

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        """Tell what a file is."""
        self._answer(body=False)

    def do_GET(self) -> None:
        """Give a file."""
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        self.state.seen.append(f"{self.command} {self.path} {self.headers.get('Range', '')}".strip())
        if self.state.renamed and not self.path.startswith((_RENAMED, _STORED)):
            self._head(307, 0, {"Location": f"{_RENAMED}{self.path}"})
            return
        content = self.state.content(self.path) if self.state.status == 200 else None
        if content is None:
            self._head(404 if self.state.status == 200 else self.state.status, 0, {})
            return
        heads, large = self.state.heads(self.path, content), _is_large(self.path)
        if large and not self.path.startswith(_STORED):
            self._head(302, 0, heads | {"X-Linked-Size": str(len(content)), "Location": f"{_STORED}{self.path}"})
        elif not body:
            self._head(200, len(content), heads)
        else:
            self._give(content, heads, large=large)

    def _give(self, content: bytes, heads: dict[str, str], *, large: bool) -> None:
        if self.state.wrong and large:
            content = content[:-1] + bytes([content[-1] ^ 1])
        start = self._start() if self.state.ranges else 0
        if start:
            heads["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        piece = content[start:]
        self._head(206 if start else 200, len(piece), heads)
        if self.state.gate is not None and large:
            self._write(piece[: len(piece) // 2])
            self.state.reached.set()
            self.state.gate.wait(_PATIENCE)
            piece = piece[len(piece) // 2 :]
        self._write(piece if self.state.drop is None or not large else piece[: self.state.drop])
        self.close_connection = True

    def _start(self) -> int:
        given = self.headers.get("Range", "")
        return int(given.removeprefix("bytes=").rstrip("-")) if given else 0

    def _head(self, status: int, length: int, heads: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in heads.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def _write(self, piece: bytes) -> None:
        try:
            self.wfile.write(piece)
            self.wfile.flush()
        except OSError:
            self.close_connection = True


def _is_large(path: str) -> bool:
    return not path.endswith(".json")


def _git(content: bytes) -> str:
    return f'"{hashlib.sha1(b"blob %d" % len(content) + bytes(1) + content, usedforsecurity=False).hexdigest()}"'


@dataclass
class Embeddings:
    """An endpoint of embeddings: ``vector`` of a text, and how it fails."""

    vector: Callable[[str], Any]
    status: int = 200
    answer: Any = None
    gate: threading.Event | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)


@contextmanager
def embeddings(state: Embeddings) -> Iterator[str]:
    """Serve an endpoint of embeddings."""

    def answer(path: str, asked: dict[str, Any]) -> tuple[int, Any]:
        shape = {"object": "list", "data": [{"index": 0, "embedding": state.vector(asked["input"])}]}
        return state.status if path.endswith("/embeddings") else 404, shape if state.answer is None else state.answer

    with _posted(state, answer) as address:
        yield address


@dataclass
class Reranking:
    """An endpoint of reranking: ``score`` of a query and a passage, and how it fails.

    ``texts`` lets it speak as text-embeddings-inference does, with other names for the same.
    """

    score: Callable[[str, str], float]
    status: int = 200
    answer: Any = None
    texts: bool = False
    gate: threading.Event | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)


@contextmanager
def reranking(state: Reranking) -> Iterator[str]:
    """Serve an endpoint of reranking, best first."""

    def answer(path: str, asked: dict[str, Any]) -> tuple[int, Any]:
        state.paths.append(path)
        passages = asked.get("texts" if state.texts else "documents")
        if state.status != 200 or state.answer is not None:
            return state.status, state.answer
        if passages is None:
            return 422, {"error": "missing field"}
        name = "score" if state.texts else "relevance_score"
        rows = [{"index": i, name: state.score(asked["query"], passage)} for i, passage in enumerate(passages)]
        rows.sort(key=lambda row: -row[name])
        return 200, rows if state.texts else {"id": "1", "results": rows}

    with _posted(state, answer) as address:
        yield address


@contextmanager
def _posted(state: Embeddings | Reranking, answer: Callable[[str, dict[str, Any]], tuple[int, Any]]) -> Iterator[str]:
    """Serve answers to what is posted as JSON, and keep what was asked."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            """Answer."""
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.asked.append(asked)
            state.keys.append(self.headers.get("Authorization"))
            if state.gate is not None:
                state.gate.wait(_PATIENCE)
            status, value = answer(self.path, asked)
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            try:
                self.send_response(status)
                if status // 100 == 3:
                    self.send_header("Location", "/elsewhere/rerank")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                self.close_connection = True

    with listening(Handler) as address:
        yield address
