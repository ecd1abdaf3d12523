"""Where the server's log goes: a file in the cache, standard error, and the client's log.

No text of a note gets there: of an error that was not foreseen only its kind and place are told, since its message may
quote what was worked on.
"""

import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from queue import SimpleQueue
from types import TracebackType

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from synapse_ls import __version__
from synapse_ls.core.errors import SynapseError

LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}

_OWN = logging.getLogger("synapse_ls")
_LOG = logging.getLogger(__name__)
# The framework's loggers, which quote what the client sends.
_FRAMEWORK = ("pygls.protocol.json_rpc", "pygls.protocol.language_server")

# The file is opened this long after the start, so that it does not keep the client waiting for its first answer.
_START_SECONDS = 1.0
# A disk that hangs does not keep the process.
_LAST_SECONDS = 2.0
# The client is told that many different lines and no more.
_MAX_TOLD = 1000
_MAX_FRAMES = 30


@contextmanager
def recording(level: int) -> Iterator[None]:
    """Log to the file from a level on, and warnings to standard error, as long as the body runs."""
    root = logging.getLogger()
    former, former_level = root.handlers[:], _OWN.level
    writer = _Writer(level)
    root.handlers[:] = [writer]
    _OWN.setLevel(min(level, logging.INFO))
    # The framework logs whole messages, that is the text of notes, at INFO.
    logging.getLogger("pygls").setLevel(logging.WARNING)
    terse = _Terse()
    for name in _FRAMEWORK:
        logging.getLogger(name).addFilter(terse)
    sys.excepthook = _uncaught
    threading.excepthook = lambda args: _uncaught(args.exc_type, args.exc_value, args.exc_traceback)
    system = os.uname()
    _LOG.info("synapse-ls %s starts: Python %s, %s %s", __version__, sys.version.split()[0], *system[::4])
    try:
        yield
    finally:
        _LOG.info("synapse-ls ends")
        writer.end()
        root.handlers[:] = former
        _OWN.setLevel(former_level)
        for name in _FRAMEWORK:
            logging.getLogger(name).removeFilter(terse)
        sys.excepthook, threading.excepthook = sys.__excepthook__, threading.__excepthook__


@contextmanager
def telling(tell: Callable[[lsp.LogMessageParams], object]) -> Iterator[None]:
    """Hand what our own loggers say at INFO and above to ``tell``, each line once, as long as the body runs.

    ``tell`` is called in the thread that logs.
    """
    handler = _ToClient(tell)
    _OWN.addHandler(handler)
    try:
        yield
    finally:
        _OWN.removeHandler(handler)


class _Terse(logging.Filter):
    """Lets one short line of each kind through, without what the client sent, and each unexpected error once.

    Refusals are left out: the client has them as its answer, and each key of a search-as-you-type makes some.
    """

    def __init__(self) -> None:
        super().__init__()
        self._told: set[tuple[str, type[BaseException] | None]] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        kind = (str(record.msg), None if error is None else type(error))
        if isinstance(error, JsonRpcException) or kind in self._told:
            return False
        self._told.add(kind)
        record.msg, record.args = re.sub(r'"?%[sr]"?', "...", kind[0].partition("\n")[0]), ()
        return True


class _ToClient(logging.Handler):
    def __init__(self, tell: Callable[[lsp.LogMessageParams], object]) -> None:
        super().__init__(logging.INFO)
        self._tell = tell
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = sentence(record)
        if text not in self._told and len(self._told) < _MAX_TOLD:
            self._told.add(text)
            self._tell(lsp.LogMessageParams(_kind(record.levelno), text))


class _Writer(logging.Handler):
    """Writes records in a thread of its own: who logs waits neither for a disk nor for a reader."""

    def __init__(self, level: int) -> None:
        super().__init__()
        self._file_level = level
        self._records: SimpleQueue[logging.LogRecord | None] = SimpleQueue()
        self._due = threading.Event()
        self._thread = threading.Thread(target=self._run, name="synapse-log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        self._records.put(record)

    def end(self) -> None:
        """Write what is waiting."""
        self._records.put(None)
        self._due.set()
        self._thread.join(_LAST_SECONDS)

    def _run(self) -> None:
        self._due.wait(_START_SECONDS)
        from synapse_ls.lsp import logfile  # noqa: PLC0415 - here and now, see above

        writable = True
        while (record := self._records.get()) is not None:
            if record.levelno >= logging.WARNING:
                _say(sentence(record))
            if record.levelno < self._file_level:
                continue
            try:
                logfile.append(entry(record, frank=self._file_level <= logging.DEBUG))
            except (OSError, RuntimeError) as error:  # the latter: there is no home
                if writable:
                    reason = getattr(error, "strerror", None) or error
                    _say(f"the log cannot be written ({reason}); set SYNAPSE_CACHE_DIR to a folder you can write to")
                writable = False


def sentence(record: logging.LogRecord) -> str:
    """Return a record as one line, with the kind of its error."""
    kind = f" ({type(record.exc_info[1]).__name__})" if record.exc_info and record.exc_info[1] else ""
    return _one_line(record.getMessage()) + kind


def entry(record: logging.LogRecord, *, frank: bool = False) -> str:
    """Return the lines of a record in the log file; what an unforeseen error says is told only if ``frank``."""
    when = datetime.fromtimestamp(record.created, UTC).astimezone().isoformat(timespec="milliseconds")
    head = f"{when} {record.process} {record.levelname} {record.name}: {_one_line(record.getMessage())}"
    error = record.exc_info[1] if record.exc_info else None
    return "\n".join([head, *_trace(error, frank=frank), ""])


def _trace(error: BaseException | None, *, frank: bool) -> list[str]:
    """Return where an error and those it comes from arose, the last first."""
    lines: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        told = f": {_one_line(str(error))}" if frank or isinstance(error, OSError | SynapseError) else ""
        lines.append(f"    {type(error).__name__}{told}")
        places = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
        lines += [f"      {code.co_filename}:{line} {code.co_name}" for code, line in places[-_MAX_FRAMES:]]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return lines


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _kind(level: int) -> lsp.MessageType:
    if level >= logging.ERROR:
        return lsp.MessageType.Error
    return lsp.MessageType.Warning if level >= logging.WARNING else lsp.MessageType.Info


def _say(text: str) -> None:
    with suppress(OSError, ValueError):
        print(f"synapse-ls: {text}", file=sys.stderr, flush=True)  # noqa: T201 - standard error is for this


def _uncaught(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    _LOG.error("an error that nobody caught", exc_info=(kind, error or kind(), trace))
