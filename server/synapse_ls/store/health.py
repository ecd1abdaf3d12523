"""Whether an index is sound, for diagnosis."""

import struct
import time
from pathlib import Path

import apsw

from synapse_ls.core.errors import IndexStateError
from synapse_ls.store import database
from synapse_ls.store.database import Index

_STEPS = 10_000


def check(path: Path, seconds: float = 2.0) -> str | None:
    """Return what is wrong with an index file, or None if nothing is; reads only.

    Raises:
        TimeoutError: It takes longer than ``seconds``; what was read of it is sound.
    """
    late = time.monotonic() + seconds
    index = Index(path, read_only=True)
    try:
        with index.read() as db:
            db.set_progress_handler(lambda: time.monotonic() > late, _STEPS)
            (said,) = db.execute("PRAGMA quick_check(1)").fetchone() or ("no answer",)
            return None if said == "ok" else str(said)
    except apsw.InterruptError:
        raise TimeoutError(f"not read to its end within {seconds:g} s") from None
    except (apsw.Error, IndexStateError) as error:
        return str(error)
    finally:
        index.close()


def versions() -> dict[str, str]:
    """Return the versions of SQLite and of the vector extension, proven by an index in memory and a nearest neighbour.

    Raises:
        Exception: Whatever is wrong with either.
    """
    db = database.memory()
    try:
        db.execute("CREATE VIRTUAL TABLE probe USING vec0(embedding float[2] distance_metric=cosine)")
        rows = [(1, struct.pack("<2f", 1, 0)), (2, struct.pack("<2f", 0, 1))]
        db.executemany("INSERT INTO probe(rowid, embedding) VALUES (?, ?)", rows)
        nearest = db.execute("SELECT rowid FROM probe WHERE embedding MATCH ? AND k = 1", (rows[1][1],)).get
        if nearest != 2:  # noqa: PLR2004 - the row that was asked for
            raise apsw.Error(f"the vector extension found row {nearest} where row 2 is nearest")
        return {"SQLite": apsw.sqlite_lib_version(), "sqlite-vec": str(db.execute("SELECT vec_version()").get)}
    finally:
        db.close()
