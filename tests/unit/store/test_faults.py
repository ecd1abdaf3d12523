"""What errors of the database say of an index."""

import apsw
import pytest

from synapse_ls.core.errors import IndexStateError
from synapse_ls.store.faults import IndexFormatError, IndexRuinedError, IndexUnwritableError, fault_of


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (apsw.CorruptError("database disk image is malformed"), "ruined"),
        (apsw.NotADBError("file is not a database"), "ruined"),
        (apsw.SQLError("no such table: chunks"), "ruined"),
        (apsw.SQLError("Internal sqlite-vec error: could not open"), "ruined"),
        (IndexRuinedError("damaged"), "ruined"),
        (apsw.FullError("database or disk is full"), "unwritable"),
        (apsw.ReadOnlyError("attempt to write a readonly database"), "unwritable"),
        (apsw.IOError("disk I/O error"), "unwritable"),
        (apsw.CantOpenError("unable to open database file"), "unwritable"),
        (IndexUnwritableError("no room"), "unwritable"),
        (apsw.BusyError("database is locked"), "busy"),
        (apsw.SQLError("near SELECT: syntax error"), None),
        (apsw.ConstraintError("UNIQUE constraint failed"), None),
        (IndexFormatError("of another version"), None),
        (IndexStateError("closed"), None),
        (OSError("the vault is not there"), None),
    ],
)
def test_an_error_tells_the_fault(error: Exception, fault: str | None) -> None:
    """A missing vault or our own mistake is none of the index."""
    assert fault_of(error) == fault
