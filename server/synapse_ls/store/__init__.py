"""The index of one vault in one SQLite file; the only package with SQL."""
