"""Facts about the index itself: its generation and the fingerprints of what it was made with."""

from synapse_ls.store.database import Connection


def get(db: Connection, key: str) -> str | None:
    """Return a fact, or None."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def put(db: Connection, key: str, value: str) -> None:
    """Record a fact."""
    db.execute(
        "INSERT INTO meta(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value", (key, value)
    )


def drop(db: Connection, key: str) -> None:
    """Forget a fact."""
    db.execute("DELETE FROM meta WHERE key = ?", (key,))


def generation(db: Connection) -> int:
    """Return the number of changes committed so far."""
    return int(get(db, "generation") or 0)


def bump_generation(db: Connection) -> int:
    """Count one more committed change and return the new number."""
    number = generation(db) + 1
    put(db, "generation", str(number))
    return number
