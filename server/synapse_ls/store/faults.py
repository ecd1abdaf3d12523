"""What can be wrong with an index, and what errors of the database say of it."""

from typing import Literal

import apsw

from synapse_ls.core.errors import IndexStateError

Fault = Literal["ruined", "lost", "unwritable", "busy"]

# What is told by words alone: pages that sqlite-vec cannot read, a schema that is not whole.
_RUIN_SAID = ("blob read error", "Internal sqlite-vec error", "could not open", "validity", "no such table")
_RUINED = (apsw.NotADBError, apsw.CorruptError, apsw.FormatError)
_UNWRITABLE = (apsw.FullError, apsw.ReadOnlyError, apsw.IOError, apsw.CantOpenError, apsw.PermissionsError)
_BUSY = (apsw.BusyError, apsw.LockedError)


class IndexRuinedError(IndexStateError):
    """The file is no index, or a damaged one: only a new one helps."""


class IndexFormatError(IndexStateError):
    """The file is an index, made by another version of Synapse."""


class IndexUnwritableError(IndexStateError):
    """The index cannot be opened or made where it should lie: no space, no permission, a lock of a stranger."""


class IndexLostError(IndexStateError):
    """No reader can be opened: what lies at the index's path is gone, not it, or out of reach."""


class IndexClosedError(IndexStateError):
    """The index was closed; another one may have come in its place."""


def fault_of(error: BaseException) -> Fault | None:
    """Return what an error says of an index: it is damaged, out of reach, cannot be written, another one holds it."""
    if isinstance(error, apsw.IOError) and getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHORT_READ:
        return "ruined"  # the file ends too early
    if isinstance(error, apsw.SQLError) and any(sign in str(error) for sign in _RUIN_SAID):
        return "ruined"
    return next((fault for fault, kinds in _KINDS if isinstance(error, kinds)), None)


_KINDS: tuple[tuple[Fault, tuple[type[Exception], ...]], ...] = (
    ("ruined", (IndexRuinedError, *_RUINED)),
    ("lost", (IndexLostError,)),
    ("busy", _BUSY),
    ("unwritable", (IndexUnwritableError, *_UNWRITABLE)),
)
